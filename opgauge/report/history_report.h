// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/history.h"

#include <string>
#include <vector>

namespace opgauge {

// A line for each run, by time.
std::string history_text(const std::vector<IndexedRun>& runs);
Json history_json(const std::vector<IndexedRun>& runs);

// A part for each case, a line for each of its runs, with the change since the first. `all` counts
// the rows of other calibers too, which are left out and said.
std::string trend_text(const std::string& operator_name, const std::vector<IndexedCase>& cases,
                       std::size_t all);
Json trend_json(const std::string& operator_name, const std::vector<IndexedCase>& cases,
                std::size_t all);

}  // namespace opgauge
