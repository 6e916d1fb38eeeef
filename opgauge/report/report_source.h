// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/where.h"
#include "opgauge/record/result_reader.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

enum class ReportKind { run, batch, comparison };
std::string_view name_of(ReportKind kind);

// What a report is about, as read from the disk; every format is made of this value.
struct ReportSource {
    ReportKind kind = ReportKind::run;
    std::string path;
    std::vector<RecordedRun> runs;  // of a run one, of a comparison none
    Json comparison = nullptr;      // what `opgauge compare --json` wrote
    Json batch = nullptr;           // batch.json where there is one
    std::optional<BatchTime> time;  // where its time went
};

// A folder without rows of its own is a batch; a file is a comparison. Kinds: usage (neither),
// failed (a broken file).
Result<ReportSource> open_report(const std::string& path);

// One operator of a run or batch, in numbers.
struct OperatorSummary {
    std::string name;
    std::string status;  // of its run; "incomplete" where it was cut off
    std::string reason;
    std::size_t rows = 0;
    std::size_t ok = 0;
    std::size_t bad = 0;  // failed or invalid
    std::size_t skipped = 0;
    std::size_t flagged = 0;
    std::optional<double> geomean;  // of the unflagged speed-ups
    std::size_t geomean_n = 0;
    std::optional<double> lowest;
    std::optional<double> highest;
};

// One a run, then the operators of the batch that left no run.
std::vector<OperatorSummary> operator_summaries(const ReportSource& source);

// All rows of all runs together; its name is empty.
OperatorSummary total_of(const ReportSource& source);

// "caliber 0123456789abcdef: fake Fake 1, driver 1.0, ..." once for each setup among the runs.
std::vector<std::string> caliber_lines(const ReportSource& source);

// What a reader must know first: incomplete runs, torn lines, more than one setup.
std::vector<std::string> source_warnings(const ReportSource& source);

// Whether the runs' identities say what the device can reach.
bool has_ceilings(const ReportSource& source);
bool has_work(const ReportSource& source);

}  // namespace opgauge
