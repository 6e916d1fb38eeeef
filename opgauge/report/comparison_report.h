// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/compare/comparison.h"

#include <string>

namespace opgauge {

// A against B for a terminal: what was compared by which rule, a line per compared case, every case
// that was left out and why, the counts, and the geometric mean beside its n.
std::string comparison_text(const Comparison& comparison);

// Everything of it: settings, runs, differing facts, rows with their evidence, what was left out.
Json comparison_json(const Comparison& comparison);

}  // namespace opgauge
