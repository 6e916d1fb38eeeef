// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/plan/plan.h"

namespace opgauge {

// Options and the caller's environment (ZL_BACKEND, OP, OP_FILE, TEST_NODE, SHAPE_MODE, OPGAUGE_*)
// to a plan. Options win over variables. Kinds: usage (unknown operator, backend, device, timer,
// dtype; unreadable shapes file, with line and column), refused (a timer that the backend lacks),
// environment (no device, no corpus).
Result<Plan> make_plan(const PlanOptions& options, const Environment& environment,
                       const Installation& installation);

}  // namespace opgauge
