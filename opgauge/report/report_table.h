// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/text_table.h"
#include "opgauge/report/report_source.h"

#include <string>
#include <vector>

namespace opgauge {

// A table before it is printed: cells hold foreign text as it is, and each format escapes it.
struct ReportTable {
    std::vector<TextTable::Column> columns;
    std::vector<std::vector<std::string>> rows;
};

// A line for each row of each run. Columns that nothing is known for are left out.
ReportTable case_table(const ReportSource& source);
// The rows that have no number or that something disturbed, each with its reason.
ReportTable trouble_table(const ReportSource& source);
ReportTable operator_table(const ReportSource& source);
// The rows of a comparison, and the cases that it left out.
ReportTable comparison_table(const Json& comparison);
constexpr std::size_t kVerdictColumn = 7;
ReportTable left_out_table(const Json& comparison);

// For a terminal: control characters shown, long cells cut.
std::string table_text(const ReportTable& table);

// "1.23 TB/s", "45.6 TFLOP/s"
std::string rate_text(double per_second, const char* unit);

// "compared 12: faster 3, slower 1, ...", "left out 2: ...", the geometric mean, the notes.
std::vector<std::string> comparison_counts(const Json& comparison);
// What was compared with what, by which rule; what differs.
std::vector<std::string> comparison_head(const Json& comparison);

}  // namespace opgauge
