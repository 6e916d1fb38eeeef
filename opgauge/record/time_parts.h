// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <array>
#include <optional>
#include <string_view>

namespace opgauge {

// What wall time went to (docs/where.md). The order is that of tables.
enum class TimePart {
    start,        // the lane, the plan, the child's process
    imports,      // framework, corpus and collection in the child
    inputs,       // the corpus between cases
    first_calls,  // warming, recording of graphs: what is below left out
    compile,
    tune,  // timing of configurations
    warmup,
    measure,
    check,  // of outputs, of timers
    wait,   // for the section or the turn
    end,    // of the child, of the files, of the device's memory
    lost,   // of lanes that died, of attempts that were repeated
    idle,
    other,
    count_,
};
std::string_view name_of(TimePart part);
std::optional<TimePart> time_part_named(std::string_view name);

// Seconds by part. They sum to what the clock says.
class TimeParts {
  public:
    double& operator[](TimePart part) { return seconds_[static_cast<std::size_t>(part)]; }
    double operator[](TimePart part) const { return seconds_[static_cast<std::size_t>(part)]; }
    double sum() const;
    void add(const TimeParts& more);
    // Makes them sum to `wall`: the rest is `other`; of more than that, each gets its share.
    void fit_to(double wall);
    // The part that took most.
    TimePart largest() const;

  private:
    std::array<double, static_cast<std::size_t>(TimePart::count_)> seconds_{};
};

// All parts of a run, in microseconds' precision; `idle` and `lost` only where there are any.
Json to_json(const TimeParts& parts);
// What is no number of seconds is left out; nullopt where `json` is no object.
std::optional<TimeParts> time_parts_in(const Json& json);

}  // namespace opgauge
