// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/where.h"
#include "opgauge/report/report_table.h"

#include <string>
#include <vector>

namespace opgauge {

// What must be read before the numbers: of what they are, what they leave out.
std::vector<std::string> time_head(const BatchTime& time);
// A line a part, the largest first, with its share.
ReportTable parts_table(const BatchTime& time);
// A line for each of the costliest operators.
ReportTable costliest_table(const BatchTime& time);
// All three for a terminal.
std::string where_text(const BatchTime& time);

}  // namespace opgauge
