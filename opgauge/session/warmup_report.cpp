// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warmup_report.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr std::size_t kShownCases = 20;

std::string counted(std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

Json disagreement_json(const Disagreement& one) {
    Json sides = Json::array();
    for (const auto& side : one.sides) {
        sides.push_back(
            {{"store", side.store},
             {"config", side.config},
             {"times",
              {time_json(side.times.p50), time_json(side.times.p20), time_json(side.times.p80)}},
             {"conditions", name_of(side.conditions)}});
    }
    return {{"kernel", one.kernel},
            {"space", one.space},
            {"key", one.key},
            {"sides", sides},
            {"chosen", one.chosen}};
}

std::string agreement_line(const WarmupReport& report) {
    const auto twice = static_cast<std::size_t>(report.merged.keys_in_several_stores);
    const std::size_t differ = report.merged.disagreements.size();
    if (twice == 0) return "warm-up: agreement unknown: no key was tuned twice";
    const std::string text = fmt::format("{} tuned twice, {} differ{}", counted(twice, "key"),
                                         differ, differ == 1 ? "s" : "");
    if (differ == 0) return "warm-up: " + text;
    return fmt::format(
        "WARNING: warm-up: {}: the winner of {} differs across shards{}; "
        "warmup/report.json lists them",
        text, counted(differ, "key"), report.confirm ? ", and is chosen again serially" : "");
}

std::string not_warmed_line(const WarmupReport& report) {
    std::vector<std::string> names;
    for (const auto& one : report.not_warmed) {
        if (names.size() == kShownCases) {
            names.push_back(fmt::format("and {} more", report.not_warmed.size() - kShownCases));
            break;
        }
        names.push_back(fmt::format("{} ({})", one.name, one.reason));
    }
    return fmt::format("WARNING: warm-up: {} not warmed, so tuned in the run: {}",
                       report.not_warmed.size() == 1
                           ? std::string("1 case was")
                           : fmt::format("{} cases were", report.not_warmed.size()),
                       join(names, ", "));
}

}  // namespace

Json to_json(const WarmupReport& report) {
    Json shards = Json::array();
    for (const auto& shard : report.shards) {
        shards.push_back({{"device", shard.device},
                          {"status", shard.status},
                          {"reason", shard.reason},
                          {"cases", shard.cases},
                          {"tuned", shard.tuned},
                          {"seconds", shard.seconds}});
    }
    Json disagreements = Json::array();
    for (const auto& one : report.merged.disagreements) {
        disagreements.push_back(disagreement_json(one));
    }
    Json not_warmed = Json::array();
    for (const auto& one : report.not_warmed) {
        not_warmed.push_back({{"case", one.name}, {"shard", one.shard}, {"reason", one.reason}});
    }
    return {{"shards", shards},
            {"shared", report.shared},
            {"keys", report.merged.after.winners},
            {"tuned_twice", report.merged.keys_in_several_stores},
            {"differ", report.merged.disagreements.size()},
            {"disagreements", disagreements},
            {"not_warmed", not_warmed},
            {"problems", report.problems},
            {"seconds", report.seconds}};
}

Json warmup_identity(const WarmupReport& report) {
    Json devices = Json::array();
    for (const auto& shard : report.shards) devices.push_back(shard.device);
    return {{"devices", devices},
            {"shards", report.shards.size()},
            {"shared", report.shared},
            {"keys", report.merged.after.winners},
            {"tuned_twice", report.merged.keys_in_several_stores},
            {"differ", report.merged.disagreements.size()}};
}

std::vector<std::string> warmup_lines(const WarmupReport& report) {
    std::vector<std::string> lines = {agreement_line(report)};
    if (report.shared) {
        lines.emplace_back(
            "WARNING: warm-up: shards shared a device, so its timings choose no winner: every key "
            "is tuned again serially");
    }
    for (std::size_t i = 0; i < report.shards.size(); ++i) {
        const auto& shard = report.shards[i];
        if (shard.status == "finished") continue;
        lines.push_back(fmt::format("WARNING: warm-up: shard {} on {} ended early: {}: {}", i,
                                    printable(shard.device), shard.status,
                                    printable(shard.reason)));
    }
    if (!report.not_warmed.empty()) lines.push_back(not_warmed_line(report));
    lines.insert(lines.end(), report.problems.begin(), report.problems.end());
    return lines;
}

}  // namespace opgauge
