// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/samples.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace opgauge {

std::string_view name_of(Side side) {
    return side == Side::base ? "base" : "candidate";
}

std::optional<Side> side_named(std::string_view name) {
    if (name == "base") return Side::base;
    if (name == "candidate") return Side::candidate;
    return std::nullopt;
}

std::optional<std::string> why_invalid(double value_ns, double floor_ns) {
    if (!std::isfinite(value_ns)) return "not a finite number";
    if (value_ns == 0.0) return "zero";
    if (value_ns < 0.0) return fmt::format("negative ({} ns)", value_ns);
    if (value_ns < floor_ns) {
        return fmt::format("{} ns, below the timer's floor of {} ns", value_ns, floor_ns);
    }
    return std::nullopt;
}

void add_values(SideSamples& side, std::span<const double> values_ns, double floor_ns) {
    for (const double value : values_ns) {
        if (auto reason = why_invalid(value, floor_ns)) {
            side.invalid.push_back(std::move(*reason));
        } else {
            side.values_ns.push_back(value);
        }
    }
}

}  // namespace opgauge
