// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/compare/comparison.h"

#include <string>
#include <vector>

namespace opgauge {

// What a reader should know before the table: incomplete runs, arms that ran one after the other,
// a named factor that does not differ.
std::vector<std::string> notes_on(const Comparison& comparison);

// One line that names each differing fact with both values, and what to do.
std::string caliber_refusal(const Comparison& comparison,
                            const std::vector<FactDifference>& differences,
                            const std::string& tuned_operator);

// One line that says where all cases went.
std::string nothing_compared(const Comparison& comparison);

}  // namespace opgauge
