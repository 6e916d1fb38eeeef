// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/supervise_children.h"

#include <algorithm>
#include <chrono>

namespace opgauge {

Outcome supervise_children(const ChildSpec& spec, const ChildLimits& limits, const Clock& clock,
                           Conversation& conversation, RunObserver& observer, ChildSource* source) {
    using std::chrono::milliseconds;
    PlainChildren plain;
    ChildSource& children = source != nullptr ? *source : plain;
    observer.on_phase("starting the child");
    const auto begin = clock.now();
    while (true) {
        ChildLimits left = limits;
        if (left.total.count() > 0) {
            const auto spent = std::chrono::duration_cast<milliseconds>(clock.now() - begin -
                                                                        conversation.waited());
            left.total = std::max(milliseconds(1), left.total - spent);
        }
        const Outcome outcome = supervise(spec, left, conversation, children);
        if (!conversation.child_ended("the child " + to_text(outcome), outcome)) return outcome;
        observer.on_phase("replacing the child");
    }
}

}  // namespace opgauge
