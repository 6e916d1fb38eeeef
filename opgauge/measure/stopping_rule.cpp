// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/stopping_rule.h"

#include "opgauge/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opgauge {
namespace {

// Bounds a runaway: a side never holds more samples than this, whatever the time budget says.
constexpr std::size_t kMaxSamples = 100'000;
constexpr int kMaxBurst = 1'000;
constexpr int kMaxCallsPerSample = 100'000;
// A call without an estimate is taken to be this long until the first burst has told.
constexpr double kUnknownCallNs = 1e6;

double call_ns(const SideSamples& side, const std::optional<Summary>& summary) {
    if (summary) return summary->median;
    return side.estimate_ns && *side.estimate_ns > 0 ? *side.estimate_ns : kUnknownCallNs;
}

int bounded(double value, int low, int high) {
    if (!(value > low)) return low;
    return value > high ? high : static_cast<int>(value);
}

double spent_ns(const SideSamples& side) {
    return std::accumulate(side.values_ns.begin(), side.values_ns.end(), 0.0) *
           side.calls_per_sample;
}

}  // namespace

StoppingDecision decide(const StoppingSettings& settings, const SideSamples& side) {
    if (side.complete) return Enough{"complete"};
    const auto summary = summarize(side.values_ns);
    // A whole burst without one usable value will not get better by asking again.
    if (!summary && !side.invalid.empty()) return Enough{"invalid"};
    const double budget_ns = settings.max_time_s * 1e9;
    const double spent = spent_ns(side);
    if (summary) {
        const auto precision = summary->relative_precision();
        const bool many = side.values_ns.size() >= static_cast<std::size_t>(settings.min_samples);
        if (many && precision && *precision <= settings.precision) return Enough{"precision"};
        if (spent >= budget_ns) return Enough{"max_time"};
        if (side.values_ns.size() >= kMaxSamples) return Enough{"max_samples"};
    }
    const double one_call = call_ns(side, summary);
    // Calls per sample is fixed by the first burst: samples of different lengths do not mix.
    const int calls = side.values_ns.empty()
                          ? bounded(std::ceil(settings.sample_ns / one_call), 1, kMaxCallsPerSample)
                          : side.calls_per_sample;
    const double sample_ns = one_call * calls;
    const double left = std::max(budget_ns - spent, sample_ns);
    const double aim = std::min(settings.burst_ns, left);
    return MoreSamples{bounded(aim / sample_ns, 1, kMaxBurst), calls};
}

}  // namespace opgauge
