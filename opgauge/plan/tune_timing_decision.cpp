// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/tune_timing_decision.h"

#include "opgauge/base/text.h"
#include "opgauge/tuning/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace opgauge {
namespace {

constexpr const char* kVariable = "OPGAUGE_TUNE_TIMING";
// As the child names the timer of a raced winner's scope, before its version and settings.
constexpr const char* kRaceTimer = "opgauge.race ";

bool has_raced_winner(const std::filesystem::path& source) {
    const auto replay = Replay::open(source);
    if (!replay) return false;  // told where the source is checked
    const auto raced = [](const Winner& winner) {
        return winner.scope.tuning_timer.starts_with(kRaceTimer);
    };
    const auto& kernels = replay->by_kernel();
    return std::any_of(kernels.begin(), kernels.end(), [&](const auto& kernel) {
        return std::any_of(kernel.second.begin(), kernel.second.end(), raced);
    });
}

// A replay has the source's winners, so it has its caliber too.
std::string timing_of_source(const std::filesystem::path& source) {
    std::error_code error;
    if (std::filesystem::is_directory(source, error)) {
        const auto identity = read_json_file(source / "run_identity.json");
        const Json tuning = identity ? identity->value("tuning", Json::object()) : Json::object();
        const std::string timing = get_string(tuning, "timing");
        if (!timing.empty()) return timing;
    }
    return has_raced_winner(source) ? "race" : "full";
}

Result<TuneTimingPlan> named(const std::string& text, const std::string& who) {
    const std::vector<std::string> known = {"full", "race"};
    const std::string value = lower(trim(text));
    if (std::find(known.begin(), known.end(), value) != known.end()) {
        return TuneTimingPlan{value, who, ""};
    }
    return fail(ErrorKind::usage,
                fmt::format("{}: unknown tune timing '{}'{}; known: {}", who, printable(text),
                            suggestion(value, known), join(known, ", ")));
}

// The first that says it.
Result<TuneTimingPlan> asked_for(const TuningOptions& options, const Environment& environment,
                                 const std::string& source) {
    if (!options.timing.empty()) return named(options.timing, "--tune-timing");
    // How to tune, where something is: a replay that a variable turned away from its source's
    // timing would miss every winner.
    if (!source.empty()) return TuneTimingPlan{timing_of_source(source), "as the source was", ""};
    if (const auto variable = environment.get_non_empty(kVariable)) {
        return named(*variable, kVariable);
    }
    return TuneTimingPlan{"full", "default: the tuner's own timing", ""};
}

}  // namespace

Result<TuneTimingPlan> decide_tune_timing(const TuningOptions& options,
                                          const Environment& environment, const Backend& backend,
                                          const Plan& plan) {
    if (plan.tune.value == "off") {
        const TuneTimingPlan none{"full", "nothing is tuned by opgauge", ""};
        if (options.timing.empty()) return none;
        return fail(ErrorKind::refused, fmt::format("--tune-timing {}: nothing is tuned ({}); "
                                                    "leave it out",
                                                    printable(options.timing), plan.tune.why));
    }
    OPGAUGE_TRY_ASSIGN(TuneTimingPlan timing,
                       asked_for(options, environment, plan.replay.source.value));
    if (timing.value == "full") return timing;
    for (const Capability needed : {Capability::event_timing, Capability::device_hold}) {
        if (backend.capabilities().contains(needed)) continue;
        const std::string lacks = fmt::format("backend {} has no {}, which a race needs",
                                              backend.name(), name_of(needed));
        return TuneTimingPlan{
            "full", timing.why + ": " + lacks,
            "--tune-timing race: " + lacks + "; each configuration is timed in full by the tuner"};
    }
    return timing;
}

}  // namespace opgauge
