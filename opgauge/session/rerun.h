// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/measure/stopping_rule.h"
#include "opgauge/plan/plan.h"
#include "opgauge/record/result_reader.h"

namespace opgauge {

// What must be asked for so that a recorded run is made again: by its plan.json and its identity,
// whatever the variables of today say. Its winners are replayed, since tuning anew could find
// others. `asked` is what its command line named; where that is nothing, the plan's nodes are
// taken. Kind usage: no plan.json, or one that names nothing.
Result<PlanOptions> options_of_run(const RecordedRun& run, const NodeRequest& asked);

StoppingSettings stopping_of_run(const RecordedRun& run);

// Kind refused: facts of the setup that are known before a child starts and differ, each with both
// values. `recorded` null: nothing is asked.
Result<void> check_same_setup(const Json& recorded, const Json& now);

}  // namespace opgauge
