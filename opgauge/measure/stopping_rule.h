// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/measure/samples.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace opgauge {

// A graph's replay of a millisecond hides what is between two replays; a graph of a thousand short
// calls reaches it, and more only makes recording and instantiating slow.
constexpr double kGraphSampleNs = 1e6;
constexpr int kMaxCallsPerGraph = 1'000;

enum class StoppingRule {
    interval,  // the interval of the median: opgauge's own
    stdrel,    // NVBench's two, for comparison (published_rules.h)
    entropy,
};
std::string_view name_of(StoppingRule rule);
std::optional<StoppingRule> stopping_rule_named(std::string_view name);

// When a side has enough samples, and how large its next burst is. Decided in the parent.
struct StoppingSettings {
    StoppingRule rule = StoppingRule::interval;
    double precision = 0.005;  // relative half-width of the 95 % interval of the median
    int min_samples = 20;
    double max_time_s = 0.25;  // per side, spent in samples
    // Per side, all that is between samples included.
    double max_wall_s = std::numeric_limits<double>::infinity();
    double burst_ns = 10e6;    // aim of one burst: short, so that clocks can be read between
    double sample_ns = 100e3;  // aim of one sample; 0: one call a sample
    double overhead_ns = 0;    // what a sample costs beside its calls (flush, hold)
    int max_calls_per_sample = 100'000;
};

// The settings for one timer: what one sample and one burst aim at.
StoppingSettings stopping_for(const StoppingSettings& settings, std::string_view timer);

struct MoreSamples {
    int samples = 0;
    int calls_per_sample = 1;
};
struct Enough {
    std::string reason;  // "precision", "stdrel", "entropy", "max_time", "max_wall", "complete",
                         // "max_samples",
                         // "invalid", "no_device_work"
};
using StoppingDecision = std::variant<MoreSamples, Enough>;

// `side` holds everything taken so far; its estimate is used while it has no samples.
StoppingDecision decide(const StoppingSettings& settings, const SideSamples& side);

}  // namespace opgauge
