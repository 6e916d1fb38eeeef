// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/batch.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace opgauge {

// Gives each entry a run folder of its own, below the batch's.
void assign_run_dirs(std::vector<BatchItem>& items);

// How the run in this folder ended by its own word; nullopt where it has not, or was interrupted.
std::optional<EntryResult> ended_run(const std::filesystem::path& run_dir);

// What a run that did not come to its own end has left; all zero where there is no run.
RowCounts rows_in(const std::filesystem::path& run_dir);

// Makes a batch that ended somehow ready to go on. What is finished stays, also where only the run
// folder knows it; what was begun goes on in its folder; all else waits.
void prepare_to_go_on(Batch& batch);

}  // namespace opgauge
