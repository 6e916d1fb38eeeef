// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

enum class Side { base, candidate };
std::string_view name_of(Side side);
std::optional<Side> side_named(std::string_view name);

// Raw times of one side of one case. One value is the device time of one call in nanoseconds, as
// docs/measuring.md defines it for the timer.
struct SideSamples {
    std::string timer;
    Json settings = Json::object();  // of the timer, as the child told
    int calls_per_sample = 1;
    std::vector<double> values_ns;        // valid ones, in the order in which they were taken
    std::vector<std::string> invalid;     // one reason for each value that was left out
    std::optional<double> first_call_ns;  // compiling and tuning included
    std::optional<double> estimate_ns;
    bool no_device_work = false;  // the call launches nothing: there is no time to take
    bool complete = false;        // the timer gives one final value (direct)
};

// Why a value cannot be a time, or nullopt for a usable one. `floor_ns` is the timer's floor, 0
// where it is not known.
std::optional<std::string> why_invalid(double value_ns, double floor_ns);

}  // namespace opgauge
