// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/batch/executor.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// What every task of a batch needs to know; `tasks.json` in the batch's folder, which all nodes
// see. It and the chunks are written before the first submit and never change.
struct TaskPlan {
    std::string program;               // that is a batch when it is called with `batch`
    std::string working_directory;     // absolute
    std::string backend;               // as --backend takes it; empty: each node decides
    std::string gres;                  // as --gres takes it
    std::vector<std::string> options;  // handed to each task's batch, verbatim
    int tasks = 0;
};

// Paths below a batch's folder; a task's number has at least three digits.
std::filesystem::path chunk_file(const std::filesystem::path& folder, int task);
std::filesystem::path task_batch_folder(const std::filesystem::path& folder, int task);
std::filesystem::path task_record_file(const std::filesystem::path& folder, int task);
std::filesystem::path task_script_file(const std::filesystem::path& folder);

// Writes the plan, the chunks (names of entries, one a line) and the script that each task runs.
// Kind usage: a name or a path that a line or the script cannot hold.
Result<void> write_task_plan(const std::filesystem::path& folder, TaskPlan plan,
                             const std::vector<std::vector<std::string>>& chunks);
Result<TaskPlan> read_task_plan(const std::filesystem::path& folder);

// What a task says of itself, by rename: at its start and at its end. The file, not the scheduler,
// says that a task has done its work.
struct TaskRecord {
    int task = 0;
    bool ended = false;
    std::string job;  // the scheduler's id of the whole array
    std::string node;
    std::string devices;  // why these
    int restarts = 0;     // by the scheduler itself
    std::optional<int> exit;
    std::optional<int> signal;
    std::string problem;  // why the batch was not started; empty: it was
    std::string started;
    std::string ended_at;
};
Result<void> write_task_record(const std::filesystem::path& folder, const TaskRecord& record);
// nullopt: no task has begun, or the file cannot be read.
std::optional<TaskRecord> read_task_record(const std::filesystem::path& folder, int task);

// Jobs that were submitted for a batch; `jobs.json`. A name is written before its submit, so that
// a submitter that is killed in the middle finds the job again; its id is empty until then.
Result<void> write_jobs(const std::filesystem::path& folder, const std::vector<Job>& jobs);
Result<std::vector<Job>> read_jobs(const std::filesystem::path& folder);

// Entries with the seconds that each is expected to take.
struct ChunkWork {
    std::string name;
    double seconds = 0;
};
struct ChunkLimits {
    double seconds = 900;  // a task, about
    int most = 1000;       // tasks
};
// Longest first, each to the task that has the least: tasks of about equal time.
std::vector<std::vector<std::string>> make_chunks(std::vector<ChunkWork> work,
                                                  const ChunkLimits& limits);

}  // namespace opgauge
