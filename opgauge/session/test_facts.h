// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/plan/plan.h"
#include "opgauge/record/known_tests.h"
#include "opgauge/record/row.h"
#include "opgauge/session/kept_run.h"

#include <vector>

namespace opgauge {

// By test function: several parametrisations of one are taken together. Device and date are left
// empty.
std::vector<KnownTest> known_tests(const std::vector<TestOutcome>& tests,
                                   const std::vector<Row>& rows);

// What this run has told of the corpus's tests that it finished, for `opgauge corpus show`.
void keep_tests(const Plan& plan, const std::vector<TestOutcome>& tests,
                const std::vector<Row>& rows, const Environment& environment, const Clock& clock);

}  // namespace opgauge
