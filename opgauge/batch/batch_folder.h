// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/batch.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {

// The folder of a batch that this process runs: locked against another that would go on with it.
// The kernel releases the lock at any end of the process.
class BatchFolder {
  public:
    // A new folder: batch-UTC in `root`, or exactly `exact` where it is not empty.
    static Result<BatchFolder> claim(const std::filesystem::path& root,
                                     const std::filesystem::path& exact,
                                     std::chrono::system_clock::time_point now);
    // An existing one. Kind refused: a process that lives runs it.
    static Result<BatchFolder> open(const std::filesystem::path& folder);
    // Whether a living process holds the folder.
    static bool is_held(const std::filesystem::path& folder);

    BatchFolder(BatchFolder&& other) noexcept;
    BatchFolder& operator=(BatchFolder&& other) noexcept;
    BatchFolder(const BatchFolder&) = delete;
    BatchFolder& operator=(const BatchFolder&) = delete;
    ~BatchFolder();

    const std::filesystem::path& path() const { return path_; }

    // The entry has changed since the last save.
    void touch(std::size_t item);
    // Writes batch.json and ops_status.csv, each by rename and synced. What did not change is not
    // made again: a batch of a thousand saves after each entry.
    Result<void> save(const Batch& batch);
    // What the lanes do at this moment; kept apart since it changes often and is worth little.
    void save_live(const Json& live);

  private:
    explicit BatchFolder(std::filesystem::path path) : path_(std::move(path)) {}
    Result<void> lock();

    std::filesystem::path path_;
    int lock_fd_ = -1;
    std::vector<std::string> json_lines_;  // of the entries; empty: to be made
    std::vector<std::string> csv_lines_;
};

}  // namespace opgauge
