// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/stopping_rule.h"

#include "opgauge/measure/published_rules.h"
#include "opgauge/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opgauge {
namespace {

// Bounds a runaway: a side never holds more samples than this, whatever the time budget says.
constexpr std::size_t kMaxSamples = 100'000;
constexpr int kMaxBurst = 1'000;
// A call without an estimate is taken to be this long until the first burst has told.
constexpr double kUnknownCallNs = 1e6;
// A flush of the cache and the hold around a call on one H200.
constexpr double kEventOverheadNs = 100e3;
// Some 200 samples of a short kernel, spread over the streams that its timer uses.
constexpr double kEventBurstNs = 20e6;

double call_ns(const SideSamples& side, const std::optional<Summary>& summary) {
    if (summary) return summary->median;
    return side.estimate_ns && *side.estimate_ns > 0 ? *side.estimate_ns : kUnknownCallNs;
}

int bounded(double value, int low, int high) {
    if (!(value > low)) return low;
    return value > high ? high : static_cast<int>(value);
}

double spent_ns(const StoppingSettings& settings, const SideSamples& side) {
    return std::accumulate(side.values_ns.begin(), side.values_ns.end(), 0.0) *
               side.calls_per_sample +
           settings.overhead_ns * static_cast<double>(side.values_ns.size());
}

bool rule_is_met(const StoppingSettings& settings, const SideSamples& side,
                 const Summary& summary) {
    switch (settings.rule) {
        case StoppingRule::stdrel:
            return stdrel_is_finished(side.values_ns, side.calls_per_sample);
        case StoppingRule::entropy:
            return entropy_is_finished(side.values_ns);
        case StoppingRule::interval:
            break;
    }
    const auto precision = summary.relative_precision();
    return side.values_ns.size() >= static_cast<std::size_t>(settings.min_samples) && precision &&
           *precision <= settings.precision;
}

std::string reason_of(StoppingRule rule) {
    return rule == StoppingRule::interval ? "precision" : std::string(name_of(rule));
}

}  // namespace

std::string_view name_of(StoppingRule rule) {
    switch (rule) {
        case StoppingRule::interval:
            return "interval";
        case StoppingRule::stdrel:
            return "stdrel";
        case StoppingRule::entropy:
            return "entropy";
    }
    return "interval";
}

std::optional<StoppingRule> stopping_rule_named(std::string_view name) {
    for (const auto rule : {StoppingRule::interval, StoppingRule::stdrel, StoppingRule::entropy}) {
        if (name_of(rule) == name) return rule;
    }
    return std::nullopt;
}

StoppingSettings stopping_for(const StoppingSettings& settings, std::string_view timer) {
    StoppingSettings fitted = settings;
    // A call that waits for the device, or one on a slow host, takes far longer than its sample.
    constexpr double kWallOverTime = 2;
    if (timer == "graph" || timer == "event")
        fitted.max_wall_s = kWallOverTime * settings.max_time_s;
    if (timer == "graph") {
        fitted.sample_ns = kGraphSampleNs;
        fitted.max_calls_per_sample = kMaxCallsPerGraph;
    } else if (timer == "event") {
        fitted.sample_ns = 0;
        fitted.overhead_ns = kEventOverheadNs;
        fitted.burst_ns = kEventBurstNs;
    }
    return fitted;
}

StoppingDecision decide(const StoppingSettings& settings, const SideSamples& side) {
    if (side.no_device_work) return Enough{"no_device_work"};
    if (side.complete) return Enough{"complete"};
    const auto summary = summarize(side.values_ns);
    // A whole burst without one usable value will not get better by asking again.
    if (!summary && !side.invalid.empty()) return Enough{"invalid"};
    const double budget_ns = settings.max_time_s * 1e9;
    const double spent = spent_ns(settings, side);
    if (summary) {
        if (rule_is_met(settings, side, *summary)) return Enough{reason_of(settings.rule)};
        if (spent >= budget_ns) return Enough{"max_time"};
        if (side.wall_s >= settings.max_wall_s) return Enough{"max_wall"};
        if (side.values_ns.size() >= kMaxSamples) return Enough{"max_samples"};
    }
    const double one_call = call_ns(side, summary);
    // Calls per sample is fixed by the first burst: samples of different lengths do not mix.
    const int calls = side.values_ns.empty() ? bounded(std::ceil(settings.sample_ns / one_call), 1,
                                                       settings.max_calls_per_sample)
                                             : side.calls_per_sample;
    const double sample_ns = one_call * calls + settings.overhead_ns;
    const double left = std::max(budget_ns - spent, sample_ns);
    const double aim = std::min(settings.burst_ns, left);
    return MoreSamples{bounded(aim / sample_ns, 1, kMaxBurst), calls};
}

}  // namespace opgauge
