// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

enum class Side { base, candidate };
std::string_view name_of(Side side);
std::optional<Side> side_named(std::string_view name);

// What the device told while one burst of samples was taken; nullopt: it tells none.
struct Burst {
    std::size_t samples = 0;             // valid ones
    std::optional<double> sm_clock_mhz;  // median of the readings during it
    std::optional<double> temperature_celsius;
    std::optional<double> power_watts;
    std::vector<std::string> throttle_reasons;
};

// Raw times of one side of one case. One value is the device time of one call in nanoseconds, as
// docs/measuring.md defines it for the timer.
struct SideSamples {
    std::string timer;
    Json settings = Json::object();  // of the timer, as the child told
    int calls_per_sample = 1;
    std::vector<double> values_ns;        // valid ones, in the order in which they were taken
    std::vector<Burst> bursts;            // in the same order; empty: nobody watched the device
    double wall_s = 0;                    // of the kept bursts, rests before them left out
    int dropped_bursts = 0;               // taken while the device was slowed down
    std::vector<std::string> invalid;     // one reason for each value that was left out
    std::optional<double> first_call_ns;  // compiling and tuning included
    std::optional<double> estimate_ns;
    bool no_device_work = false;  // the call launches nothing: there is no time to take
    bool complete = false;        // the timer gives one final value (direct)
};

// Why a value cannot be a time, or nullopt for a usable one. `floor_ns` is the timer's floor, 0
// where it is not known.
std::optional<std::string> why_invalid(double value_ns, double floor_ns);

// Adds each value to the side's valid ones, or its reason to the invalid ones.
void add_values(SideSamples& side, std::span<const double> values_ns, double floor_ns);

}  // namespace opgauge
