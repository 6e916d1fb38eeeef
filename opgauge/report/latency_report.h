// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/record/row.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {

// The latency table of a run for a terminal: who measured what and how, a line per case, what is
// wrong with the rows that have no number, and the geometric mean beside its n.
std::string latency_text(const RecordedRun& run);

// The same rows with units in the column names, for spreadsheets.
std::string latency_csv(const RecordedRun& run);

// Titles and cells of that table, for one that has more columns.
std::vector<std::string> latency_csv_titles();
std::vector<std::string> latency_csv_cells(const Row& row);

// Geometric mean of the speed-ups of all unflagged ok rows, and how many they are.
std::pair<std::optional<double>, std::size_t> geomean_speedup(const std::vector<Row>& rows);

// "12.34 us", "1.234 ms": three or four significant digits.
std::string time_text(double nanoseconds);

}  // namespace opgauge
