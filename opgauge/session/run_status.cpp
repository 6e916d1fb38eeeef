// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/run_status.h"

#include "opgauge/base/text.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>

namespace opgauge {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitRefused = 3;
constexpr int kExitEnvironment = 4;
constexpr int kExitSignalBase = 128;
// Codes that our own children use (docs/child_protocol.md); pytest's own are 0 to 5.
constexpr int kPytestTestsFailed = 1;
constexpr int kPytestNoTests = 5;

std::optional<RunStatus> ended_by_force(const Outcome& outcome, const ConversationResult& said) {
    if (const auto* stopped = std::get_if<Stopped>(&outcome)) {
        if (stopped->signal != 0) {
            return RunStatus{"interrupted", stopped->by, kExitSignalBase + stopped->signal};
        }
        return RunStatus{"failed", stopped->by, said.record_error ? kExitEnvironment : kExitFailed};
    }
    if (const auto* late = std::get_if<TimedOut>(&outcome)) {
        return RunStatus{"timeout", late->limit, kExitFailed};
    }
    if (const auto* never = std::get_if<NotStarted>(&outcome)) {
        return RunStatus{"failed", never->reason, kExitEnvironment};
    }
    if (std::holds_alternative<Signaled>(outcome)) {
        return RunStatus{"crashed", to_text(outcome), kExitFailed};
    }
    return std::nullopt;
}

// A store that another process keeps has a status of its own; a full disk has none.
RunStatus store_failed(const std::string& error) {
    const bool locked = error.find("store_locked") != std::string::npos;
    return {locked ? "store_locked" : "failed", error, locked ? kExitFailed : kExitEnvironment};
}

// By a person, a limit of the whole run, or because of what it is.
bool ended_for_good(const Outcome& outcome) {
    const auto* late = std::get_if<TimedOut>(&outcome);
    return std::holds_alternative<Stopped>(outcome) ||
           std::holds_alternative<NotStarted>(outcome) ||
           (late != nullptr && late->kind == TimedOut::Limit::total);
}

bool interrupted(const Outcome& outcome) {
    const auto* stopped = std::get_if<Stopped>(&outcome);
    return stopped != nullptr && stopped->signal != 0;
}

bool test_failed(const TestOutcome& test) {
    return (test.outcome == "failed" || test.outcome == "error") && !test.dtype_not_supported;
}

bool test_skipped(const TestOutcome& test) {
    return test.outcome == "skipped" || test.dtype_not_supported;
}

std::optional<RunStatus> nothing_collected(const ConversationResult& said) {
    if (!said.collect_errors.empty()) {
        const auto& [node, message] = said.collect_errors.front();
        return RunStatus{"collect_error", fmt::format("{}: {}", node, message), kExitFailed};
    }
    if (said.collected && said.collected->empty()) {
        return RunStatus{"no_tests", "the corpus collected no test for this node", kExitFailed};
    }
    return std::nullopt;
}

// Failures that the tests and rows themselves tell.
std::optional<RunStatus> failed_work(const ConversationResult& said) {
    const auto failed = std::find_if(said.tests.begin(), said.tests.end(), test_failed);
    const bool any_row_bad = said.rows_failed + said.rows_invalid > 0;
    if (failed == said.tests.end() && !any_row_bad) return std::nullopt;
    const std::string reason =
        failed != said.tests.end()
            ? fmt::format("{}: {}", printable(failed->node), printable(failed->reason))
            : fmt::format("{} rows failed, {} invalid", said.rows_failed, said.rows_invalid);
    return RunStatus{"failed", reason, kExitFailed};
}

std::string reason_of(const TestOutcome& test) {
    if (!test.dtype_not_supported) return test.reason;
    std::string reason = "dtype not supported";
    if (!test.dtypes.empty()) reason += ": it has " + printable(join(test.dtypes, ", "), 200);
    return test.reason.empty() ? reason : reason + ": " + test.reason;
}

// What cost a child, or would have: the other rows are as good as ever.
std::optional<RunStatus> lost_work(const Outcome& outcome, const ConversationResult& said) {
    if (said.lost.empty() || ended_for_good(outcome)) return std::nullopt;
    const int rows = said.rows_ok + said.rows_failed + said.rows_invalid + said.rows_skipped;
    std::string reason = losses_text(said.lost, rows);
    if (said.gave_up) reason += "; the cases behind it were not measured: " + *said.gave_up;
    const std::string kind = worst_kind(said.lost);
    const bool named =
        kind == LostKind::kCrashed || kind == LostKind::kTimeout || kind == LostKind::kOom;
    return RunStatus{named ? kind : "failed", reason, kExitFailed};
}

}  // namespace

RunStatus judge_run(const Outcome& outcome, const ConversationResult& said) {
    if (said.guard_refusal) {
        return {"failed", "device guard: " + *said.guard_refusal, kExitEnvironment};
    }
    if (said.replay_refusal) return {"failed", *said.replay_refusal, kExitRefused};
    if (said.store_error && !interrupted(outcome)) return store_failed(*said.store_error);
    if (auto lost = lost_work(outcome, said)) return *lost;
    if (auto forced = ended_by_force(outcome, said)) return *forced;
    const int code = std::get<Exited>(outcome).code;
    if (auto nothing = nothing_collected(said)) return *nothing;
    if (said.children == 0) {
        return {
            "failed",
            fmt::format("the child never spoke ({}); its output is in child.log", to_text(outcome)),
            kExitFailed};
    }
    if (auto failed = failed_work(said)) return *failed;
    const bool expected =
        code == 0 || (said.said_bye && (code == kPytestTestsFailed || code == kPytestNoTests));
    if (!expected || !said.said_bye) {
        return {"failed", fmt::format("the child {}", to_text(outcome)), kExitFailed};
    }
    if (said.rows_ok == 0) {
        const auto skipped = std::find_if(said.tests.begin(), said.tests.end(), test_skipped);
        if (skipped != said.tests.end()) {
            return {"skipped", fmt::format("{}: {}", skipped->node, reason_of(*skipped)), kExitOk};
        }
        if (said.rows_skipped == 0) {
            return {"failed", "the corpus passed but measured nothing that opgauge could see",
                    kExitFailed};
        }
        if (said.rows_quarantined == said.rows_skipped) {
            return {"skipped", "every case is quarantined", kExitOk};
        }
        return {"skipped", "every case was skipped", kExitOk};
    }
    if (said.child_error) return {"failed", *said.child_error, kExitFailed};
    return {"passed", "", kExitOk};
}

Json marker_counts(const std::vector<Row>& rows) {
    std::map<std::string, int> counts;
    for (const auto& row : rows) {
        for (const auto& flag : row.flags) ++counts[flag.substr(0, flag.find_first_of("@="))];
    }
    return counts;
}

Json status_json(const RunStatus& status, const Outcome& outcome, const ConversationResult& said,
                 const RecordedRun& run, double seconds) {
    Json tests = Json::array();
    for (const auto& test : said.tests) {
        tests.push_back({{"node", test.node},
                         {"outcome", test.dtype_not_supported ? "skipped" : test.outcome},
                         {"reason", reason_of(test)},
                         {"dtypes", test.dtypes},
                         {"seconds", test.seconds}});
    }
    Json collect_errors = Json::array();
    for (const auto& [node, message] : said.collect_errors) {
        collect_errors.push_back({{"node", node}, {"message", message}});
    }
    const auto [geomean, count] = geomean_speedup(run.rows);
    return {{"schema_version", 1},
            {"run_id", run.identity.value("run_id", Json(nullptr))},
            {"status", status.status},
            {"reason", status.reason},
            {"exit_code", status.exit_code},
            {"outcome", to_text(outcome)},
            {"seconds", seconds},
            {"rows",
             {{"ok", said.rows_ok},
              {"failed", said.rows_failed},
              {"invalid", said.rows_invalid},
              {"skipped", said.rows_skipped},
              {"flagged", said.rows_flagged}}},
            {"geomean_speedup", optional_json(geomean)},
            {"geomean_n", count},
            {"tests", tests},
            {"collect_errors", collect_errors},
            {"events", said.events},
            {"log", said.log},
            {"quarantined", said.rows_quarantined},
            {"children", {{"started", said.children}, {"forked", said.forked}}},
            {"markers", marker_counts(run.rows)}};
}

}  // namespace opgauge
