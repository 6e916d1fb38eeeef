// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/plan/plan.h"
#include "opgauge/tuning/replay.h"

#include <set>
#include <string>
#include <vector>

namespace opgauge {

// What is known of the winners' scope before the child speaks: device, driver, environment.
Scope scope_before_child(const Plan& plan, const Environment& child);

// The compiler as a child's device report names it: "triton 3.6.0"; empty: unknown.
std::string compiler_of(const Json& device);

// Why no winner of the source holds here, as far as `now` knows facts that are the same for every
// kernel (device, driver, environment, compiler); empty: some winner may hold. Of the winner that
// comes closest. `accepted` facts may differ.
std::vector<ScopeDifference> differences_of_all(const Replay& source, const Scope& now,
                                                const std::set<std::string>& accepted);

// "scope differs; device_model: recorded A, now B".
std::string differences_text(const std::vector<ScopeDifference>& differences);

}  // namespace opgauge
