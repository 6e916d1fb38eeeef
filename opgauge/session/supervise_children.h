// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/run/supervisor.h"
#include "opgauge/session/conversation.h"

namespace opgauge {

// One child after another: a child is replaced where its process cannot be trusted any more. Each
// goes on where the one before it ended, so their number is bounded by that of the cases. The total
// limit holds for all of them together. `source` null: each is a process of its own.
Outcome supervise_children(const ChildSpec& spec, const ChildLimits& limits, const Clock& clock,
                           Conversation& conversation, RunObserver& observer, ChildSource* source);

}  // namespace opgauge
