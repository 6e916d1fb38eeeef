// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/compare/arm.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Facts beside those of the setup: they stand on rows.
constexpr std::string_view kTimerFact = "timer";
constexpr std::string_view kTimerSettingsFact = "timer_settings";
constexpr std::string_view kWinnersFact = "winners";

// One fact in which two measurements differ, and whose each value is.
struct FactDifference {
    std::string fact;  // as --factor names it
    std::string left_name = "A";
    Json left;
    std::string right_name = "B";
    Json right;

    // A difference inside one arm is never a factor: its runs are no replicates of each other.
    bool is_between_arms() const { return left_name == "A" && right_name == "B"; }
};

// The facts in which two setups differ. Members of an object are facts of their own:
// "environment.OMP_NUM_THREADS".
std::vector<FactDifference> setup_fact_differences(const Json& left, const Json& right);

// Between the arms, then inside each: one of its setups against its first.
std::vector<FactDifference> arm_differences(const Arm& a, const Arm& b);

// "timer" also allows the settings, which no two timers share.
bool is_allowed(std::string_view fact, std::span<const std::string> factors);

// Kind usage: a factor that no caliber has.
Result<void> check_factors(std::span<const std::string> factors);

// "driver (A: 580.1, B: 570.2)"; control characters shown.
std::string to_text(const FactDifference& difference);
std::string value_text(const Json& value);

}  // namespace opgauge
