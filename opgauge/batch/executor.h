// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// How a scheduler sees a task. A state that is not known counts as active: never as an end.
enum class TaskState {
    waiting,  // not started, or to be started again
    active,   // running, or its files may still be on their way
    completed,
    failed,  // ended with an exit code or by a signal
    timed_out,
    cancelled,
    out_of_memory,
    lost_node,  // its node failed, or it was preempted and is not started again
    gone,       // the scheduler has forgotten it before an end was seen
};

std::string_view name_of(TaskState state);
bool is_final(TaskState state);

struct TaskReport {
    int task = 0;
    TaskState state = TaskState::waiting;
    std::string word;    // the scheduler's own for the state
    std::string reason;  // the scheduler's, empty where it gave none
    std::string node;
    std::optional<int> exit;  // both nullopt before its end
    std::optional<int> signal;
};

// What is submitted: tasks of a folder that all nodes see (docs/slurm.md). Its name is the
// submitter's own and unique, since it finds a job again whose submit was not answered.
struct JobRequest {
    std::string name;
    std::filesystem::path folder;  // absolute
    std::filesystem::path script;  // what each task runs
    std::vector<int> tasks;        // ascending
};

struct Job {
    std::string name;
    std::string id;
    std::vector<int> tasks;
};

// A scheduler that other people run. It is asked, never waited for: each call has a deadline.
// Errors of kind environment mean that it did not answer; ask again later.
class Executor {
  public:
    virtual ~Executor() = default;
    virtual std::string_view name() const = 0;
    // Task numbers of one job must be below this.
    virtual Result<int> task_limit() = 0;
    // Kind usage: the scheduler refuses it; asking again would not help.
    virtual Result<Job> submit(const JobRequest& request) = 0;
    // The id of a job with this name; nullopt: the scheduler has none.
    virtual Result<std::optional<std::string>> find(const std::string& name) = 0;
    // One report a task of the job, in the order of the tasks.
    virtual Result<std::vector<TaskReport>> poll(const Job& job) = 0;
    // Tasks that have ended are left alone. It returns before they have ended.
    virtual Result<void> cancel(const Job& job) = 0;
};

}  // namespace opgauge
