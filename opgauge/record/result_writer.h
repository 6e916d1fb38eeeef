// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/measure/samples.h"
#include "opgauge/record/row.h"

#include <chrono>
#include <filesystem>
#include <optional>

namespace opgauge {

// Writes one run's directory: rows at once as they finish, the identity before the child starts
// and again after the guard, the status last and by rename. Owned by the session.
class ResultWriter {
  public:
    static Result<ResultWriter> open(const std::filesystem::path& run_dir);

    Result<void> write_identity(const Json& identity);
    Result<void> write_plan(const Json& plan);
    // Appends to rows.jsonl and the sides' raw samples to samples.jsonl.
    Result<void> append(const Row& row, const std::optional<SideSamples>& base,
                        const std::optional<SideSamples>& candidate);
    Result<void> write_text(const char* file_name, const std::string& content);
    // After this the directory counts as complete.
    Result<void> write_status(const Json& status);

  private:
    ResultWriter(std::filesystem::path run_dir, LineAppender rows, LineAppender samples);
    std::filesystem::path run_dir_;
    LineAppender rows_;
    LineAppender samples_;
    std::chrono::steady_clock::time_point last_sync_;
};

}  // namespace opgauge
