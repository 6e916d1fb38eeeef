// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// One check of a timer on one device, and what it came to.
struct ConformanceCheck {
    std::string name;             // ends in _ns where the value is a time, in _ratio where not
    std::string timer;            // "event", or "graph" for what only a graph's samples depend on
    std::optional<double> value;  // nullopt: nothing to tell it from
    double low = 0;               // the value must not be below
    std::optional<double> high;   // nor above; nullopt: there is no such bound
    bool ok = false;
    std::string problem;  // why there is no value; empty: no two samples differ
};

// What the timers of one device are worth, judged from samples of work of known size
// (docs/measuring.md). Floors and flags of rows come from here.
struct Conformance {
    double floor_ns = 0;  // one pair of events with nothing between; 0: not known
    // A kernel that does nothing: what a sample holds beside the kernel's own duration. nullopt:
    // not known.
    std::optional<double> empty_kernel_ns;
    std::optional<double> resolution_ns;
    std::vector<ConformanceCheck> checks;

    // Whether this timer was checked. Only "event" and "graph" are.
    bool covers(std::string_view timer) const;
    // False where a check failed on which this timer's samples depend. A graph is timed with
    // events.
    bool conforms(std::string_view timer) const;
    // What a value for one call of this timer, `calls` of them a sample, cannot be below; 0: none.
    double floor_of(std::string_view timer, int calls) const;
    std::vector<std::string> failed() const;
};

// `facts` as the child tells them (docs/child_protocol.md). Kind failed: the child could not take
// them, or samples are missing.
Result<Conformance> judge_conformance(const Json& facts);

// The judgement alone, for files and for --json.
Json to_json(const Conformance& conformance);

}  // namespace opgauge
