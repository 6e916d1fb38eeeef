// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/device/backend.h"
#include "opgauge/plan/plan.h"

namespace opgauge {

// How the configurations of a key are compiled before they are timed: --compile-jobs, --no-overlap.
// `tune`: the tuning mode. Kind refused: more than one job asked for where the backend cannot fork.
Result<CompilePlan> decide_compile(const TuningOptions& options, const Backend& backend,
                                   const std::string& tune);

}  // namespace opgauge
