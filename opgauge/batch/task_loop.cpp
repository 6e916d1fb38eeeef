// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/task_loop.h"

#include "opgauge/base/digest.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

void wait_for(std::chrono::milliseconds time) {
    const timespec limit = {.tv_sec = static_cast<time_t>(time.count() / 1000),
                            .tv_nsec = static_cast<long>(time.count() % 1000) * 1'000'000};
    ::ppoll(nullptr, 0, &limit, &SignalGuard::wait_mask());
}

TaskEnding ending_of(TaskState state) {
    switch (state) {
        case TaskState::timed_out:
            return TaskEnding::timed_out;
        case TaskState::cancelled:
            return TaskEnding::cancelled;
        case TaskState::out_of_memory:
            return TaskEnding::out_of_memory;
        default:
            return TaskEnding::lost;
    }
}

bool is_worth_another_try(TaskEnding ending) {
    return ending == TaskEnding::timed_out || ending == TaskEnding::lost;
}

std::string exit_text(const TaskReport& report) {
    if (report.signal) return fmt::format(", signal {}", *report.signal);
    if (report.exit) return fmt::format(", exit code {}", *report.exit);
    return "";
}

std::string reason_of(const TaskReport& report, const fs::path& log) {
    const std::string why = report.reason.empty() ? "" : " (" + report.reason + ")";
    const std::string where = report.node.empty() ? "" : " on " + report.node;
    if (report.state == TaskState::gone) {
        return "the scheduler has no record of it any more and it has left none; see " +
               log.string();
    }
    return fmt::format("{}{}{}{}; see {}", report.word, why, where, exit_text(report),
                       log.string());
}

}  // namespace

std::string_view name_of(TaskEnding ending) {
    switch (ending) {
        case TaskEnding::done:
            return "done";
        case TaskEnding::failed:
            return "failed";
        case TaskEnding::timed_out:
            return "timeout";
        case TaskEnding::cancelled:
            return "cancelled";
        case TaskEnding::out_of_memory:
            return "oom";
        case TaskEnding::lost:
            return "lost";
        case TaskEnding::not_run:
            return "not_run";
    }
    return "?";
}

TaskLoop::TaskLoop(fs::path folder, int tasks, Executor& executor, const TaskLimits& limits,
                   const Clock& clock, TaskObserver& observer)
    : folder_(std::move(folder)),
      executor_(executor),
      limits_(limits),
      clock_(clock),
      observer_(observer),
      slots_(static_cast<std::size_t>(tasks)),
      last_motion_(clock.now()) {
    for (int task = 0; task < tasks; ++task) {
        auto& slot = slots_[static_cast<std::size_t>(task)];
        slot.report.task = task;
        slot.end.task = task;
    }
}

Result<LoopEnd> TaskLoop::run() {
    OPGAUGE_TRY_ASSIGN(const int limit, executor_.task_limit());
    if (static_cast<int>(slots_.size()) > limit) {
        return fail(ErrorKind::usage,
                    fmt::format("{} tasks, but {} takes {} in one array; make larger tasks",
                                slots_.size(), executor_.name(), limit));
    }
    OPGAUGE_TRY(take_over());
    std::vector<int> missing;
    for (auto& slot : slots_) {
        if (!slot.done && slot.job < 0) missing.push_back(slot.end.task);
    }
    if (SignalGuard::received() == 0 && !missing.empty()) OPGAUGE_TRY(submit(missing));
    while (true) {
        if (SignalGuard::count() > 1) return give_up(SignalGuard::received());
        if (SignalGuard::received() != 0 && !cancelled_) cancel_all();
        cancel_jobs();
        OPGAUGE_TRY(poll_all());
        if (!cancelled_) OPGAUGE_TRY(submit_again());
        if (all_done()) break;
        check_pending();
        if (cancelled_ && clock_.now() - *cancelled_ > limits_.cancel) break;
        wait_for(limits_.poll);
    }
    return give_up(SignalGuard::received());
}

// Jobs of an earlier submitter: the latest one of each task counts.
Result<void> TaskLoop::take_over() {
    OPGAUGE_TRY_ASSIGN(jobs_, read_jobs(folder_));
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
        if (jobs_[job].id.empty()) {
            OPGAUGE_TRY_ASSIGN(const auto id, executor_.find(jobs_[job].name));
            if (!id) continue;
            jobs_[job].id = *id;
        }
        for (const int task : jobs_[job].tasks) {
            if (task >= 0 && task < static_cast<int>(slots_.size())) {
                slots_[static_cast<std::size_t>(task)].job = static_cast<int>(job);
            }
        }
    }
    for (auto& slot : slots_) finished_by_record(slot);
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
        if (jobs_[job].id.empty()) continue;
        OPGAUGE_TRY_ASSIGN(const auto reports, executor_.poll(jobs_[job]));
        for (const auto& report : reports) {
            if (report.task >= static_cast<int>(slots_.size())) continue;
            auto& slot = slots_[static_cast<std::size_t>(report.task)];
            if (slot.job != static_cast<int>(job) || slot.done) continue;
            // What has ended without doing its work is submitted again.
            if (is_final(report.state)) slot.job = -1;
        }
    }
    return {};
}

Result<void> TaskLoop::submit(const std::vector<int>& tasks) {
    JobRequest request;
    request.folder = folder_;
    request.script = task_script_file(folder_);
    request.tasks = tasks;
    const auto now = clock_.wall_time().time_since_epoch().count();
    request.name = fmt::format("opgauge-{}", sha256_hex(fmt::format("{} {} {} {}", folder_.string(),
                                                                    ::getpid(), now, jobs_.size()))
                                                 .substr(0, 16));
    jobs_.push_back({request.name, "", tasks});
    OPGAUGE_TRY(write_jobs(folder_, jobs_));
    OPGAUGE_TRY_ASSIGN(jobs_.back(), executor_.submit(request));
    OPGAUGE_TRY(write_jobs(folder_, jobs_));
    for (const int task : tasks) {
        auto& slot = slots_[static_cast<std::size_t>(task)];
        slot.job = static_cast<int>(jobs_.size()) - 1;
        slot.final_since.reset();
        ++slot.submits;
    }
    last_motion_ = clock_.now();
    observer_.on_submit(jobs_.back());
    return {};
}

Result<void> TaskLoop::poll_all() {
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
        const bool wanted = std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
            return !slot.done && slot.job == static_cast<int>(job);
        });
        if (wanted) OPGAUGE_TRY(poll_job(job));
    }
    return {};
}

Result<void> TaskLoop::poll_job(std::size_t job) {
    const auto reports = executor_.poll(jobs_[job]);
    if (reports) {
        if (silent_since_) observer_.on_note(fmt::format("{} answers again", executor_.name()));
        silent_since_.reset();
        for (const auto& report : *reports) {
            auto& slot = slots_[static_cast<std::size_t>(report.task)];
            if (!slot.done && slot.job == static_cast<int>(job)) on_report(slot, report);
        }
        return {};
    }
    if (reports.error().kind != ErrorKind::environment) return tl::unexpected(reports.error());
    // The tasks run on without their controller, and their files tell.
    for (auto& slot : slots_) {
        if (!slot.done && slot.job == static_cast<int>(job)) finished_by_record(slot);
    }
    if (!silent_since_) {
        silent_since_ = clock_.now();
        observer_.on_note(reports.error().message + "; asking again");
    }
    last_motion_ = clock_.now();
    if (clock_.now() - *silent_since_ < limits_.no_answer) return {};
    return fail(ErrorKind::environment,
                fmt::format("{}; job {} may still run, go on with --resume when it answers",
                            reports.error().message, jobs_[job].id));
}

void TaskLoop::on_report(Slot& slot, const TaskReport& report) {
    const bool changed = slot.report.state != report.state || slot.report.word != report.word ||
                         slot.report.reason != report.reason || slot.report.node != report.node;
    if (slot.report.state != report.state || report.state == TaskState::active) {
        last_motion_ = clock_.now();
    }
    slot.report = report;
    if (changed) observer_.on_change(report);
    if (is_final(report.state)) {
        settle(slot);
    } else {
        slot.final_since.reset();
    }
}

// Whether the task has done its work, whatever the scheduler says of it.
bool TaskLoop::finished_by_record(Slot& slot) {
    const auto record = read_task_record(folder_, slot.end.task);
    if (!record || !record->ended || !record->exit || *record->exit > 1) return false;
    slot.end.node = record->node;
    slot.end.exit = record->exit;
    end(slot, TaskEnding::done, "");
    return true;
}

// Whether the task's batch ended by itself without doing its work. One that was told to end (its
// node went, it was to be started again) has not.
bool TaskLoop::failed_by_record(Slot& slot, const std::optional<TaskRecord>& record) {
    if (!record || !record->ended || !is_of_job(slot, *record)) return false;
    if (record->problem.empty() && record->exit.value_or(128) >= 128) return false;
    slot.end.exit = record->exit;
    end(slot, TaskEnding::failed,
        record->problem.empty()
            ? fmt::format("its batch ended with exit code {}; see {}", record->exit.value_or(0),
                          log_of(slot.end.task).string())
            : record->problem);
    return true;
}

bool TaskLoop::is_of_job(const Slot& slot, const TaskRecord& record) const {
    return slot.job >= 0 && record.job == jobs_[static_cast<std::size_t>(slot.job)].id;
}

fs::path TaskLoop::log_of(int task) const {
    return folder_ / "tasks" / fmt::format("{:03}.log", task);
}

void TaskLoop::settle(Slot& slot) {
    if (finished_by_record(slot)) return;
    if (!slot.final_since) slot.final_since = clock_.now();
    const TaskState state = slot.report.state;
    const bool may_be_late =
        state == TaskState::completed || state == TaskState::failed || state == TaskState::gone;
    const auto record = read_task_record(folder_, slot.end.task);
    if (may_be_late && failed_by_record(slot, record)) return;
    if (may_be_late && clock_.now() - *slot.final_since < limits_.record) return;
    const TaskEnding ending = ending_of(state);
    const std::string reason = reason_of(slot.report, log_of(slot.end.task));
    if (is_worth_another_try(ending) && slot.submits <= limits_.retries && !cancelled_) {
        observer_.on_note(fmt::format("task {} is submitted again: {}", slot.end.task, reason));
        slot.job = -1;
        again_.push_back(slot.end.task);
        return;
    }
    const bool ran = record && is_of_job(slot, *record);
    end(slot, state == TaskState::cancelled && !ran ? TaskEnding::not_run : ending,
        cancel_reason_.empty() ? reason : cancel_reason_);
}

void TaskLoop::end(Slot& slot, TaskEnding ending, const std::string& reason) {
    slot.done = true;
    slot.end.ending = ending;
    slot.end.reason = reason;
    if (slot.end.node.empty()) slot.end.node = slot.report.node;
    observer_.on_end(slot.end);
}

Result<void> TaskLoop::submit_again() {
    if (again_.empty()) return {};
    std::vector<int> tasks = std::exchange(again_, {});
    std::sort(tasks.begin(), tasks.end());
    return submit(tasks);
}

void TaskLoop::cancel_all() {
    cancelled_ = clock_.now();
    if (cancel_reason_.empty()) cancel_reason_ = "cancelled by an interrupt";
    again_.clear();
    for (auto& slot : slots_) {
        if (slot.done) continue;
        if (slot.job < 0) {
            end(slot, slot.submits > 0 ? TaskEnding::cancelled : TaskEnding::not_run,
                cancel_reason_);
        } else {
            to_cancel_.insert(static_cast<std::size_t>(slot.job));
        }
    }
    cancel_jobs();
}

// Those that the scheduler did not take are tried again at the next poll.
void TaskLoop::cancel_jobs() {
    for (auto job = to_cancel_.begin(); job != to_cancel_.end();) {
        const auto done = executor_.cancel(jobs_[*job]);
        if (!done) {
            observer_.on_note(fmt::format("job {} is not cancelled yet: {}", jobs_[*job].id,
                                          done.error().message));
        }
        job = done ? to_cancel_.erase(job) : std::next(job);
    }
}

// A job that the scheduler accepts but can never start waits for ever.
void TaskLoop::check_pending() {
    if (limits_.pending.count() == 0 || cancelled_) return;
    if (clock_.now() - last_motion_ < limits_.pending) return;
    const auto waiting = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
        return !slot.done && slot.report.state == TaskState::waiting;
    });
    if (waiting == slots_.end()) return;
    cancel_reason_ = fmt::format(
        "nothing started within {}; {} says: {}", duration_text(limits_.pending), executor_.name(),
        waiting->report.reason.empty() ? waiting->report.word : waiting->report.reason);
    observer_.on_note(cancel_reason_);
    cancel_all();
}

bool TaskLoop::all_done() const {
    return again_.empty() &&
           std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.done; });
}

LoopEnd TaskLoop::give_up(int signal) {
    LoopEnd result;
    result.signal = signal;
    for (auto& slot : slots_) {
        if (!slot.done) {
            const bool ran = slot.report.state == TaskState::active;
            slot.end.ending = ran ? TaskEnding::cancelled : TaskEnding::not_run;
            slot.end.reason = cancel_reason_.empty() ? "cancelled by an interrupt" : cancel_reason_;
            slot.end.node = slot.report.node;
        }
        result.tasks.push_back(slot.end);
    }
    return result;
}

}  // namespace opgauge
