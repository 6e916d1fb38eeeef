// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/plan/plan.h"

namespace opgauge {

// --exclusive: kind refused where another process uses the measuring device or one of a warm-up,
// or where nothing tells.
Result<void> check_exclusive(const Plan& plan);

}  // namespace opgauge
