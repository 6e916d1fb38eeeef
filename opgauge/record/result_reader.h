// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/record/row.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// A run as read back from its directory. Reports, comparisons and batches use this and nothing
// else.
struct RecordedRun {
    std::filesystem::path directory;
    Json identity;
    std::optional<Json> status;  // absent: the run is incomplete, and every reader says so
    std::vector<Row> rows;
    std::vector<std::string> warnings;  // torn last line dropped, ...
};

// Kinds: usage (no run there), failed (a file of another version or cut in its middle).
Result<RecordedRun> read_run(const std::filesystem::path& directory);

// Raw samples of one row by its index; either side may be absent.
struct RecordedSamples {
    std::optional<SideSamples> base;
    std::optional<SideSamples> candidate;
};
Result<RecordedSamples> read_samples(const std::filesystem::path& directory, int row_index);

// Those of every row, by index; a torn last line is dropped.
Result<std::map<int, RecordedSamples>> read_all_samples(const std::filesystem::path& directory);

}  // namespace opgauge
