// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/provider.h"
#include "opgauge/plan/plan.h"

#include <string>
#include <vector>

namespace opgauge {

// The planner's single decisions. Each takes what it depends on and says why it came out so.

// --timer, else the backend's default. Kinds: usage (unknown), refused (a capability is missing).
Result<Decision> decide_timer(const std::string& option, const Backend& backend,
                              const std::string& corpus_name);

// What the child's timers are told, and what takes the place of a graph that cannot be captured.
struct TimerSettings {
    Json json = Json::object();  // {"l2": "cold" or "hot" for the event timer, "hold": bool}
    std::string fallback_timer;  // empty: the timer has none
};
// --l2. Kinds: usage (unknown), refused (the timer has another policy, a capability is missing).
Result<TimerSettings> decide_timer_settings(const std::string& l2, const Backend& backend,
                                            const std::string& timer);

struct ShapesDecision {
    Decision decision;    // value: "upstream", "compact", or the file as given
    std::string file;     // absolute; empty: the corpus's own
    std::string content;  // text to write into `file` before the run; empty: it is there
    std::optional<std::string> digest;
};
// --shapes, else SHAPE_MODE, else compact where the corpus has a shape file. Kind usage: a bad
// file.
Result<ShapesDecision> decide_shapes(const std::string& option, const Environment& environment,
                                     const Provider& provider);

// The -p list of a pytest corpus and what is left out, from capabilities.
struct PluginDecisions {
    std::vector<Decision> used;
    std::vector<Decision> left_out;
};
PluginDecisions decide_plugins(const Backend& backend, const std::string& timer);

// Checks each dtype against the names that corpora use; "first" (kFirstDtype) stands alone, "all"
// gives none. Kind usage, with a suggestion.
Result<std::vector<std::string>> decide_dtypes(const std::vector<std::string>& dtypes);

// The request of the command line, completed by TEST_NODE, OP and OP_FILE, and where it came from.
struct RequestDecision {
    NodeRequest request;
    std::string why;
};
// Kind usage: nothing names an operator.
Result<RequestDecision> decide_request(const NodeRequest& option, const Environment& environment);

}  // namespace opgauge
