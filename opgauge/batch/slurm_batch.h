// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/batch.h"
#include "opgauge/batch/batch_folder.h"
#include "opgauge/batch/slurm_client.h"
#include "opgauge/batch/task_loop.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace opgauge {

// A batch whose entries are measured by tasks of Slurm.
struct SlurmBatch {
    SlurmOptions slurm;
    TaskLimits limits;
    SlurmPatience patience;
    ChunkLimits chunks;
    std::string program;                    // that each task runs
    std::string backend;                    // as --backend takes it; may be empty
    std::map<std::string, double> seconds;  // of entries, from earlier batches
};

// Whether the folder is that of a batch of tasks.
bool is_task_batch(const std::filesystem::path& folder);

// The options for Slurm that a batch was started with, for going on with it; `slurm.json`.
Result<void> write_slurm_options(const std::filesystem::path& folder, const SlurmOptions& options);
Result<SlurmOptions> read_slurm_options(const std::filesystem::path& folder);

// Cuts the entries that can run into tasks and writes what tasks need. Once a batch.
Result<void> prepare_tasks(const Batch& batch, const SlurmBatch& settings,
                           const Environment& environment);

// Takes what a task's batch has measured into its own table: an entry that it has not finished is
// not_run, with the task's reason. Returns the facts (device model, driver, software, ...) that are
// others than those of the tasks before it: their numbers may not be set side by side.
std::vector<std::string> merge_task(Batch& batch, const TaskEnd& end);

// Submits, watches, merges and keeps the folder's files. At the end every entry is finished or
// not_run, and `state` and `exit_code` are set, also after an interrupt.
Result<void> run_slurm(Batch& batch, BatchFolder& folder, const SlurmBatch& settings,
                       const Environment& environment, const Clock& clock, TaskObserver& observer);

}  // namespace opgauge
