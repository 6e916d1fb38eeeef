// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/measure/samples.h"

#include <string>
#include <variant>

namespace opgauge {

// When a side has enough samples, and how large its next burst is. Decided in the parent.
struct StoppingSettings {
    double precision = 0.005;  // relative half-width of the 95 % interval of the median
    int min_samples = 20;
    double max_time_s = 1.0;   // per side, spent in calls
    double burst_ns = 10e6;    // aim of one burst: short, so that clocks can be read between
    double sample_ns = 100e3;  // aim of one sample of the host timer; 0: one call a sample
};

struct MoreSamples {
    int samples = 0;
    int calls_per_sample = 1;
};
struct Enough {
    std::string reason;  // "precision", "max_time", "complete", "max_samples", "invalid"
};
using StoppingDecision = std::variant<MoreSamples, Enough>;

// `side` holds everything taken so far; its estimate is used while it has no samples.
StoppingDecision decide(const StoppingSettings& settings, const SideSamples& side);

}  // namespace opgauge
