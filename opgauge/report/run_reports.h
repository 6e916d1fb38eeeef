// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/report/report_source.h"

#include <string>

namespace opgauge {

// The same report in each format that a person or a program reads. Foreign text is data in all of
// them: control characters are shown, and nothing in it acts.

// A run: its latency table; a batch: a line an operator; a comparison: its rows.
std::string report_text(const ReportSource& source);

// For a pull request: the result, the caliber, what is wrong, and the whole table collapsed. Rows
// beyond what a forge takes in one comment are left out and counted.
std::string report_markdown(const ReportSource& source);

// A line for each row with raw numbers; the unit stands in the column's name.
std::string report_csv(const ReportSource& source);

// Everything as facts: identities, statuses, rows with what they achieved.
Json report_json(const ReportSource& source);

}  // namespace opgauge
