// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/compare/arm.h"
#include "opgauge/compare/facts.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Why a case is not compared.
enum class LeftOutKind { only_in_a, only_in_b, failed, flagged, timers_differ };
std::string_view name_of(LeftOutKind kind);

struct LeftOut {
    LeftOutKind kind = LeftOutKind::only_in_a;
    const ArmCase* work = nullptr;
    std::string_view arm;  // whose measurements were no good; empty where it is neither or both
    std::string detail;    // of foreign words: print it with printable()
};

// Equal work of both arms: the measurements that may be set side by side.
struct Pair {
    const ArmCase* a = nullptr;
    const ArmCase* b = nullptr;
    std::vector<const Measurement*> from_a;
    std::vector<const Measurement*> from_b;
    std::vector<std::string> flags;  // of meaning only, equal on both arms
};

struct Pairing {
    std::vector<Pair> pairs;
    std::vector<LeftOut> left_out;
    std::map<std::string, std::size_t> flagged;  // measurements left out, by kind of flag
    std::size_t failed_measurements = 0;
    std::size_t other_timer_measurements = 0;  // of compared cases, in processes that fell back
    // Of pairs whose timers differ, each different one once.
    std::vector<FactDifference> timer_differences;
    std::optional<FactDifference> winners;  // of the first pair that was tuned separately
    std::string tuned_operator;             // of that pair
};

// Both arms must outlive the result. Timers that differ pair up only where `allowed` says so.
Pairing pair_up(const Arm& a, const Arm& b, const TimerTable& timers,
                std::span<const std::string> allowed);

// "throttled" of "throttled:sw_power_cap@1200".
std::string flag_kind(std::string_view flag);

// Does a flag say what the timer's number means, not that something disturbed it?
bool is_flag_of_meaning(std::string_view flag);

}  // namespace opgauge
