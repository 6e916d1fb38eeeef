// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/plan/plan.h"
#include "opgauge/session/run_session.h"

namespace opgauge {

// What a lane of a batch is given: the options of a run, one device among them.
struct LaneOptions {
    PlanOptions plan;
    RunOptions run;           // its folder is told with each operator
    bool fork_server = true;  // whether children may be forked from a warm interpreter
    bool quarantine = true;   // whether cases that are known to crash are left out
    int channel_fd = -1;
};

// The whole of `opgauge batch-lane`: runs one operator after the other, as the batch at the other
// end of the channel asks for them (docs/lane_protocol.md). The exit code: 0 where the batch ended
// it or is gone, 128 + signal where a signal did. Errors: there is no corpus, or the batch does not
// keep to the protocol.
Result<int> run_batch_lane(const LaneOptions& options, const Environment& environment,
                           const Installation& installation, const Clock& clock);

}  // namespace opgauge
