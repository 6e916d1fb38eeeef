// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/base/sqlite.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace opgauge {

// A run as the index knows it.
struct IndexedRun {
    std::string directory;  // absolute
    std::string run_id;
    std::string operator_name;
    std::string created_utc;
    std::string caliber_id;
    std::string setup_id;
    std::string device;
    std::string status;  // "incomplete" where it was cut off
    std::size_t rows = 0;
    std::optional<double> geomean;
    std::size_t geomean_n = 0;
};

// One case in one run.
struct IndexedCase {
    IndexedRun run;
    std::string case_id;
    std::string caliber_id;  // of the row: its timer and its winners are in it
    std::string dtype;
    std::string shapes;
    std::string status;
    std::string flags;
    std::optional<double> base_ns;
    std::optional<double> candidate_ns;
    std::optional<double> speedup;
};

// What an update found: runs new or changed, runs as they were, folders that could not be read.
struct HistoryUpdate {
    std::size_t read = 0;
    std::size_t unchanged = 0;
    std::vector<std::string> warnings;
};

// An index over many run folders, in one sqlite file. It only repeats what the folders hold: where
// it is lost or of another version, it is made again. Runs whose folders are gone stay in it.
class HistoryIndex {
  public:
    // Makes the file and its folder where they are absent. Kinds: usage (another database),
    // refused (another version), environment (locked, not writable).
    static Result<HistoryIndex> open(const std::filesystem::path& path);

    // Reads those of the folders that are new or were changed since; all of it or nothing is kept.
    Result<HistoryUpdate> update(std::span<const std::filesystem::path> folders);

    // By time; of these folders only, or of all where there are none.
    Result<std::vector<IndexedRun>> runs(std::span<const std::filesystem::path> folders) const;

    // Each case of an operator in each of those runs: by case, then by time.
    Result<std::vector<IndexedCase>> cases(const std::string& operator_name,
                                           std::span<const std::filesystem::path> folders) const;

  private:
    explicit HistoryIndex(std::unique_ptr<SQLite::Database> database);
    std::unique_ptr<SQLite::Database> database_;
};

// The cases whose row, run or setup has a caliber that begins with `id`; where that is empty, of
// each case the caliber of its newest row. So what is left of a case is of one caliber.
std::vector<IndexedCase> within_one_caliber(std::vector<IndexedCase> cases, std::string_view id);

}  // namespace opgauge
