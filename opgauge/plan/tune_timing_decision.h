// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/backend.h"
#include "opgauge/plan/plan.h"

namespace opgauge {

// --tune-timing, OPGAUGE_TUNE_TIMING, else as the source of a replay was tuned, else full. Where
// the backend has no timer for a race it is full, with a warning. `plan` has its tuning mode and
// its replay. Kinds: usage (unknown), refused (nothing is tuned).
Result<TuneTimingPlan> decide_tune_timing(const TuningOptions& options,
                                          const Environment& environment, const Backend& backend,
                                          const Plan& plan);

}  // namespace opgauge
