// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/task_run.h"

#include "opgauge/base/process.h"
#include "opgauge/base/text.h"
#include "opgauge/batch/slurm_device.h"
#include "opgauge/batch/task_folder.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

Result<int> task_number(const Environment& environment, const TaskPlan& plan) {
    const auto text = environment.get_non_empty("SLURM_ARRAY_TASK_ID");
    if (!text) {
        return fail(ErrorKind::usage,
                    "batch-task is started by a scheduler: SLURM_ARRAY_TASK_ID is not set");
    }
    const auto number = parse_unsigned(*text);
    if (number && *number < static_cast<unsigned long long>(plan.tasks)) {
        return static_cast<int>(*number);
    }
    return fail(ErrorKind::usage, fmt::format("SLURM_ARRAY_TASK_ID={}, but the batch has {} tasks",
                                              printable(*text), plan.tasks));
}

Result<GivenDevices> devices_of_task(const TaskPlan& plan, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const BackendChoice choice,
                       choose_backend(plan.backend, environment, WithoutAccelerator::use_cpu));
    OPGAUGE_TRY_ASSIGN(const Allotment allotment, ask_allotment(environment, plan.gres));
    return given_devices(*choice.backend, choice.discovery, environment, allotment);
}

// A task that Slurm starts again, or that was submitted again, goes on where it was.
std::vector<std::string> words_of(const fs::path& folder, const TaskPlan& plan, int task,
                                  const GivenDevices& given) {
    const fs::path own = task_batch_folder(folder, task);
    std::vector<std::string> words = {plan.program, "batch"};
    if (fs::exists(own / "batch.json")) {
        words.insert(words.end(), {"--resume", own.string()});
    } else {
        words.insert(words.end(),
                     {"--run-dir", own.string(), "--from-file", chunk_file(folder, task).string()});
    }
    if (!given.request.empty()) words.insert(words.end(), {"--devices", given.request});
    words.insert(words.end(), plan.options.begin(), plan.options.end());
    return words;
}

// Slurm sends the signal of an end to every process of a task, so only those of a person at a
// terminal, which reach nothing but this process, are handed on.
void hand_on(pid_t child, const Environment& environment, int& handed) {
    if (SignalGuard::count() == handed) return;
    handed = SignalGuard::count();
    const bool by_slurm = environment.get("SLURM_JOB_ID") && SignalGuard::received() == SIGTERM;
    if (!by_slurm) ::kill(child, SIGTERM);
}

// The wait status of the batch.
int wait_for_end(const SpawnedProcess& process, const Environment& environment) {
    int handed = 0;
    while (true) {
        pollfd fd = {process.pidfd, POLLIN, 0};
        const int ready = ::ppoll(&fd, 1, nullptr, &SignalGuard::wait_mask());
        if (ready > 0) break;
        hand_on(process.pid, environment, handed);
    }
    int status = 0;
    while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(process.pidfd);
    return status;
}

// A batch whose last lane was ended by Slurm before it saw its own signal calls that a failure of
// the operator; the signal that came to this process too tells better.
bool told_to_end() {
    const timespec no_time = {};
    ::ppoll(nullptr, 0, &no_time, &SignalGuard::wait_mask());
    return SignalGuard::received() != 0;
}

Result<void> run_batch(const fs::path& folder, const TaskPlan& plan, const Environment& environment,
                       const GivenDevices& given, TaskRecord& record) {
    Environment changed = environment;
    for (const auto& [name, value] : given.changes) changed.change(name, value);
    SpawnOptions options;
    options.argv = words_of(folder, plan, record.task, given);
    options.environment = changed.to_strings();
    options.stdout_fd = STDOUT_FILENO;
    options.stderr_fd = STDERR_FILENO;
    OPGAUGE_TRY_ASSIGN(const SpawnedProcess process, spawn(options));
    const int status = wait_for_end(process, environment);
    if (WIFSIGNALED(status)) {
        record.signal = WTERMSIG(status);
    } else {
        record.exit = told_to_end() && WEXITSTATUS(status) == 1 ? 128 + SignalGuard::received()
                                                                : WEXITSTATUS(status);
    }
    return {};
}

TaskRecord begun(int task, const Environment& environment, const Clock& clock) {
    TaskRecord record;
    record.task = task;
    record.job = environment.get("SLURM_ARRAY_JOB_ID").value_or("");
    record.node = environment.get("SLURMD_NODENAME").value_or("");
    const auto restarts = parse_unsigned(environment.get("SLURM_RESTART_COUNT").value_or("0"));
    record.restarts = static_cast<int>(restarts.value_or(0));
    record.started = utc_text(clock.wall_time());
    return record;
}

}  // namespace

Result<int> run_task(const fs::path& folder, const Environment& environment, const Clock& clock) {
    OPGAUGE_TRY_ASSIGN(const TaskPlan plan, read_task_plan(folder));
    OPGAUGE_TRY_ASSIGN(const int task, task_number(environment, plan));
    TaskRecord record = begun(task, environment, clock);
    const auto given = devices_of_task(plan, environment);
    if (given) record.devices = given->why;
    Result<void> done;
    if (given) {
        OPGAUGE_TRY(write_task_record(folder, record));
        done = run_batch(folder, plan, environment, *given, record);
    } else {
        done = tl::unexpected(given.error());
    }
    record.ended = true;
    record.ended_at = utc_text(clock.wall_time());
    if (!done) record.problem = done.error().message;
    OPGAUGE_TRY(write_task_record(folder, record));
    OPGAUGE_TRY(done);
    return record.signal ? 128 + *record.signal : *record.exit;
}

}  // namespace opgauge
