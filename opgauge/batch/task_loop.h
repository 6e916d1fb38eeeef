// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/batch/executor.h"
#include "opgauge/batch/task_folder.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgauge {

// How a task of a batch ended, from its own record first and the scheduler's word second.
enum class TaskEnding {
    done,    // its batch has measured all that it could: exit code 0 or 1
    failed,  // its batch ended with another code, or did not start
    timed_out,
    cancelled,
    out_of_memory,
    lost,     // its node, or the task with no word left behind
    not_run,  // it never started
};
std::string_view name_of(TaskEnding ending);

struct TaskEnd {
    int task = 0;
    TaskEnding ending = TaskEnding::not_run;
    std::string reason;  // one line where not done
    std::string node;
    std::optional<int> exit;  // of its batch
};

struct TaskLimits {
    std::chrono::milliseconds poll{10'000};
    // After a task's end its record may be late: folders of other nodes are cached.
    std::chrono::milliseconds record{30'000};
    // Waiting with nothing running; then the job is cancelled and the reason told. 0: none.
    std::chrono::milliseconds pending{86'400'000};
    std::chrono::milliseconds cancel{120'000};       // until cancelled tasks have ended
    std::chrono::milliseconds no_answer{3'600'000};  // of the scheduler
    int retries = 1;  // submits after the first of a task that was lost or ran out of time
};

class TaskObserver {
  public:
    virtual ~TaskObserver() = default;
    virtual void on_submit(const Job& /*job*/) {}
    // Its state, its reason or its node is another than before.
    virtual void on_change(const TaskReport& /*report*/) {}
    virtual void on_end(const TaskEnd& /*end*/) {}
    virtual void on_note(const std::string& /*text*/) {}
};

struct LoopEnd {
    std::vector<TaskEnd> tasks;  // one each, ascending
    int signal = 0;              // that ended the loop
};

// Submits the tasks of a folder that have not done their work, watches them to their ends, submits
// lost ones again, cancels all on an interrupt (a second one returns at once). Jobs of an earlier
// submitter that still live are taken over, never submitted twice.
class TaskLoop {
  public:
    TaskLoop(std::filesystem::path folder, int tasks, Executor& executor, const TaskLimits& limits,
             const Clock& clock, TaskObserver& observer);
    // Kinds: usage (the scheduler refuses the job), environment (it has not answered for long; the
    // jobs run on).
    Result<LoopEnd> run();

  private:
    using Time = std::chrono::steady_clock::time_point;
    struct Slot {
        int job = -1;  // in jobs_; -1: not submitted
        int submits = 0;
        bool done = false;
        TaskReport report;
        TaskEnd end;
        std::optional<Time> final_since;
    };

    Result<void> take_over();
    Result<void> submit(const std::vector<int>& tasks);
    Result<void> poll_all();
    Result<void> poll_job(std::size_t job);
    void on_report(Slot& slot, const TaskReport& report);
    void settle(Slot& slot);
    void end(Slot& slot, TaskEnding ending, const std::string& reason);
    bool finished_by_record(Slot& slot);
    bool failed_by_record(Slot& slot, const std::optional<TaskRecord>& record);
    bool is_of_job(const Slot& slot, const TaskRecord& record) const;
    std::filesystem::path log_of(int task) const;
    Result<void> submit_again();
    void cancel_all();
    void cancel_jobs();
    void check_pending();
    bool all_done() const;
    LoopEnd give_up(int signal);

    std::filesystem::path folder_;
    Executor& executor_;
    TaskLimits limits_;
    const Clock& clock_;
    TaskObserver& observer_;
    std::vector<Job> jobs_;
    std::vector<Slot> slots_;
    std::vector<int> again_;
    std::set<std::size_t> to_cancel_;  // jobs
    std::optional<Time> cancelled_;
    std::optional<Time> silent_since_;
    Time last_motion_{};
    std::string cancel_reason_;
};

}  // namespace opgauge
