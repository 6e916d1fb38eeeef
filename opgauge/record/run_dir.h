// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace opgauge {

// Names of the files in a run directory.
struct RunFiles {
    static constexpr const char* kIdentity = "run_identity.json";
    static constexpr const char* kPlan = "plan.json";
    static constexpr const char* kRows = "rows.jsonl";
    static constexpr const char* kSamples = "samples.jsonl";
    static constexpr const char* kLatencyCsv = "latency.csv";
    static constexpr const char* kLatencyText = "latency.txt";
    static constexpr const char* kTuning = "tuning.db";
    static constexpr const char* kEvents = "events.jsonl";
    static constexpr const char* kLog = "child.log";
    static constexpr const char* kStatus = "status.json";
    static constexpr const char* kDigests = "digests.json";
};

// Claims ROOT/OPERATOR-UTC with a bare mkdir; where it exists, -2, -3, ... are tried, so that runs
// that start at one moment never share a folder. ROOT and its parents are made. Kind environment.
Result<std::filesystem::path> claim_run_dir(const std::filesystem::path& root,
                                            const std::string& operator_name,
                                            std::chrono::system_clock::time_point now);

// Claims exactly `path`: it must be absent or an empty folder; else kind refused, and it stays
// untouched.
Result<std::filesystem::path> claim_exact_run_dir(const std::filesystem::path& path);

// `text` as one path component: letters, digits, '.', '_' and '-' stay, all else becomes '_'.
std::string as_file_name(const std::string& text);

}  // namespace opgauge
