// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/batch/batch.h"
#include "opgauge/record/time_parts.h"

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// Where the time of a batch went (docs/where.md), in numbers.
struct BatchTime {
    struct Operator {
        std::string name;
        TimeParts parts;
        TimePart largest = TimePart::other;
        std::string hint;  // what would shorten its largest part
    };

    std::optional<double> lane_seconds;  // by the clock; nullopt: not kept, or lanes elsewhere
    TimeParts parts;                     // of all operators, and of lanes outside of them
    std::size_t known = 0;               // operators that say where their time went
    std::size_t unknown = 0;             // that ended and do not say
    std::size_t unfinished = 0;          // that run or wait: nothing of them is counted
    std::vector<Operator> costliest;     // most time first, at most kCostliest

    static constexpr std::size_t kCostliest = 20;
};

BatchTime time_of(const Batch& batch);

// What would shorten this part of an operator of such a batch.
std::string hint_for(TimePart part, const Batch& batch);

Json to_json(const BatchTime& time);

}  // namespace opgauge
