// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/tuning_decision.h"

#include "opgauge/base/text.h"
#include "opgauge/tuning/tuning_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace opgauge {
namespace {

constexpr const char* kReplayVariable = "REPLAY_FROM";

Result<std::string> known_mode(const std::string& option) {
    const std::string mode = lower(trim(option));
    const std::vector<std::string> known = {"record", "replay", "off"};
    if (mode.empty() || std::find(known.begin(), known.end(), mode) != known.end()) return mode;
    return fail(ErrorKind::usage,
                fmt::format("unknown tuning mode '{}'{}; known: {}", printable(option),
                            suggestion(mode, known), join(known, ", ")));
}

// An option for the mode wins over the variable; two options that contradict each other do not.
Result<Decision> find_source(const TuningOptions& options, const std::string& mode,
                             const Environment& environment) {
    const bool replays = mode.empty() || mode == "replay";
    if (!options.from.empty()) {
        if (replays) return Decision{options.from, "--from"};
        return fail(ErrorKind::usage,
                    fmt::format("--tune {} takes no winners: leave --from out, or --tune", mode));
    }
    const auto variable = environment.get_non_empty(kReplayVariable);
    if (variable && replays) return Decision{*variable, kReplayVariable};
    if (mode != "replay") return Decision{};
    return fail(ErrorKind::usage,
                fmt::format("--tune replay has no source: name a run or a tuning.db with --from or "
                            "{}",
                            kReplayVariable));
}

// What a reader must know of a source that can be read.
Result<std::string> check_source(const Decision& source) {
    const std::filesystem::path path(source.value);
    std::error_code error;
    const bool folder = std::filesystem::is_directory(path, error);
    if (folder && !std::filesystem::exists(path / "tuning.db", error)) {
        return fail(ErrorKind::usage,
                    fmt::format("{} {}: the folder has no tuning.db, so no winners were recorded "
                                "there; name a run made with --tune record",
                                source.why, printable(source.value)));
    }
    if (const auto store = TuningStore::open(path, DatabaseAccess::read); !store) {
        return fail(
            store.error().kind,
            fmt::format("{} {}: {}", source.why, printable(source.value), store.error().message));
    }
    if (folder && !std::filesystem::exists(path / "status.json", error)) {
        return "it is incomplete (no status.json): winners may be missing";
    }
    return std::string();
}

Result<std::set<std::string>> check_facts(const std::vector<std::string>& facts) {
    Scope any;
    for (const auto& fact : facts) {
        if (auto known = set_fact(any, fact, ""); !known) {
            return fail(ErrorKind::usage, "--accept-scope: " + known.error().message);
        }
    }
    return std::set<std::string>(facts.begin(), facts.end());
}

Result<void> check_only_replay(const TuningOptions& options) {
    const char* option = options.allow_misses            ? "--allow-misses"
                         : !options.accept_scope.empty() ? "--accept-scope"
                                                         : nullptr;
    if (option == nullptr) return {};
    return fail(ErrorKind::usage,
                fmt::format("{} belongs to a replay: name its source with --from", option));
}

std::string why_mode(const std::string& mode, const Decision& source, CorpusTuning corpus) {
    if (!mode.empty()) return "--tune " + mode;
    if (!source.value.empty()) return source.why;
    if (corpus == CorpusTuning::yes) return "default: every winner is kept in the run's tuning.db";
    return "the native corpus has nothing to tune";
}

}  // namespace

Result<TuningDecision> decide_tuning(const TuningOptions& options, const Environment& environment,
                                     CorpusTuning corpus) {
    OPGAUGE_TRY_ASSIGN(const std::string mode, known_mode(options.mode));
    TuningDecision decision;
    OPGAUGE_TRY_ASSIGN(decision.replay.source, find_source(options, mode, environment));
    const bool replays = !decision.replay.source.value.empty();
    const bool asked = replays || mode == "record";
    if (corpus == CorpusTuning::none && asked) {
        const std::string what = replays ? decision.replay.source.why : "--tune record";
        return fail(ErrorKind::refused, what +
                                            ": the native corpus has nothing to tune; leave it "
                                            "out, or name a corpus with --corpus");
    }
    decision.mode.why = why_mode(mode, decision.replay.source, corpus);
    const bool records = mode == "record" || (mode.empty() && corpus == CorpusTuning::yes);
    decision.mode.value = replays ? "replay" : records ? "record" : "off";
    if (!replays) {
        OPGAUGE_TRY(check_only_replay(options));
        return decision;
    }
    OPGAUGE_TRY_ASSIGN(decision.replay.warning, check_source(decision.replay.source));
    OPGAUGE_TRY_ASSIGN(decision.replay.accepted, check_facts(options.accept_scope));
    decision.replay.allow_misses = options.allow_misses;
    return decision;
}

}  // namespace opgauge
