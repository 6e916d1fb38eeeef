// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_client.h"

#include "opgauge/base/text.h"
#include "opgauge/batch/slurm_states.h"
#include "opgauge/device/backends.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace opgauge {
namespace {

// False where a signal came instead of the time.
bool wait_for(std::chrono::milliseconds time) {
    const timespec limit = {.tv_sec = static_cast<time_t>(time.count() / 1000),
                            .tv_nsec = static_cast<long>(time.count() % 1000) * 1'000'000};
    ::ppoll(nullptr, 0, &limit, &SignalGuard::wait_mask());
    return SignalGuard::received() == 0;
}

std::string first_line(const std::string& text) {
    const auto lines = lines_of(text);
    return lines.empty() ? std::string("no message") : printable(trim(lines.front()));
}

bool is_option_of_slurm(std::string_view name) {
    static constexpr std::array<std::string_view, 7> kPrefixes = {
        "SLURM_", "SBATCH_", "SQUEUE_", "SACCT_", "SCONTROL_", "SCANCEL_", "SRUN_"};
    return name != "SLURM_CONF" &&
           std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// '%' begins a field in a file name of sbatch's.
std::string as_pattern(const std::string& path) {
    std::string text;
    for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
    return text;
}

void add_word(std::vector<std::string>& words, const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(option) + "=" + value);
}

}  // namespace

Environment slurm_environment(const Environment& environment) {
    Environment result = environment;
    for (const auto& [name, value] : environment.values()) {
        if (is_option_of_slurm(name)) result.unset(name);
    }
    for (const Backend* backend : all_backends()) {
        for (const auto variable : backend->visibility_variables()) result.unset(variable);
    }
    return result;
}

// Output is appended, or a task that Slurm starts again would erase the log of its first try. A
// task resumes, so starting it again is welcome.
std::vector<std::string> sbatch_words(const SlurmOptions& options, const JobRequest& request) {
    std::vector<std::string> words = {"sbatch",       "--parsable",
                                      "--requeue",    "--open-mode=append",
                                      "--export=ALL", "--job-name=" + request.name};
    std::string array = array_text(request.tasks);
    if (options.at_once > 0) array += fmt::format("%{}", options.at_once);
    words.push_back("--array=" + array);
    words.push_back("--output=" + as_pattern((request.folder / "tasks").string()) + "/%3a.log");
    add_word(words, "--partition", options.partition);
    add_word(words, "--gres", options.gres);
    add_word(words, "--account", options.account);
    add_word(words, "--qos", options.qos);
    add_word(words, "--constraint", options.constraint);
    if (options.minutes > 0) words.push_back(fmt::format("--time={}", options.minutes));
    words.insert(words.end(), options.more.begin(), options.more.end());
    words.push_back(request.script.string());
    return words;
}

SlurmExecutor::SlurmExecutor(SlurmOptions options, const Environment& environment,
                             SlurmPatience patience)
    : options_(std::move(options)),
      environment_(slurm_environment(environment)),
      patience_(patience) {}

// Kinds: environment (no answer, no such command), usage (an answer that says no).
Result<std::string> SlurmExecutor::call(const std::vector<std::string>& words) const {
    OPGAUGE_TRY_ASSIGN(const ToolOutput done, run_tool(words, environment_, patience_.command));
    if (done.exit_code == 0) return done.out;
    const ErrorKind kind = is_no_answer(done.err) ? ErrorKind::environment : ErrorKind::usage;
    return fail(kind, fmt::format("{}: {}", words.front(), first_line(done.err)));
}

Result<int> SlurmExecutor::task_limit() {
    OPGAUGE_TRY_ASSIGN(const std::string config, call({"scontrol", "show", "config"}));
    const auto limit = read_array_limit(config);
    // A site may have switched arrays off.
    if (!limit || *limit < 1) {
        return fail(ErrorKind::environment,
                    "scontrol show config tells no MaxArraySize above 0; this site has no job "
                    "arrays, which batches need");
    }
    return *limit;
}

Result<std::optional<std::string>> SlurmExecutor::find(const std::string& name) {
    OPGAUGE_TRY_ASSIGN(const std::string told,
                       call({"squeue", "-h", "-t", "all", "-n", name, "-o", "%F"}));
    const auto ids = read_job_ids(told);
    if (ids.empty()) return std::optional<std::string>();
    // One submit that was accepted twice: the first is ours, another would do the work again.
    for (auto id = std::next(ids.begin()); id != ids.end(); ++id) {
        OPGAUGE_TRY(call({"scancel", *id}));
    }
    return std::optional(*ids.begin());
}

Result<std::optional<std::string>> SlurmExecutor::find_lost(const std::string& name) {
    const auto until = std::chrono::steady_clock::now() + patience_.lost_submit;
    int answers = 0;
    while (true) {
        const bool go_on = wait_for(patience_.between);
        const auto found = find(name);
        if (found && *found) return found;
        if (found && ++answers == 2) return std::optional<std::string>();
        if (!found && found.error().kind != ErrorKind::environment) return found;
        if (go_on && std::chrono::steady_clock::now() < until) continue;
        return fail(ErrorKind::environment,
                    fmt::format("sbatch was not answered and whether job {} was accepted cannot be "
                                "told; look with `squeue -n {}` and go on with --resume",
                                name, name));
    }
}

Result<Job> SlurmExecutor::submit(const JobRequest& request) {
    constexpr int kTries = 3;
    const auto words = sbatch_words(options_, request);
    Error last;
    for (int tries = 0; tries < kTries; ++tries) {
        const auto told = call(words);
        if (told) {
            const auto id = read_job_id(*told);
            if (id) return Job{request.name, *id, request.tasks};
            return fail(ErrorKind::environment,
                        fmt::format("sbatch printed no job id: {}", first_line(*told)));
        }
        last = told.error();
        if (last.kind != ErrorKind::environment) break;
        OPGAUGE_TRY_ASSIGN(const auto found, find_lost(request.name));
        if (found) return Job{request.name, *found, request.tasks};
    }
    return tl::unexpected(last);
}

// Without accounting, and where it lags, the last state stays what squeue said.
void SlurmExecutor::ask_accounts(const Job& job, std::map<int, TaskReport>& last) const {
    const auto told = call({"sacct", "-n", "-P", "-X", "-j", job.id, "-o", kAccountFields});
    if (!told) return;
    for (auto& report : read_accounts(*told, job.id)) {
        const auto known = last.find(report.task);
        if (known == last.end() || known->second.state != TaskState::gone) continue;
        if (is_final(report.state)) known->second = std::move(report);
    }
}

Result<std::vector<TaskReport>> SlurmExecutor::poll(const Job& job) {
    auto told = call({"squeue", "-h", "-r", "-t", "all", "-j", job.id, "-O", kQueueFields});
    // Finished long ago: Slurm keeps a job's record for MinJobAge seconds.
    const bool forgotten =
        !told && told.error().message.find("Invalid job id") != std::string::npos;
    if (!told && !forgotten) return tl::unexpected(told.error());
    std::map<int, TaskReport> listed;
    for (auto& report : read_queue(told.value_or(""))) listed[report.task] = report;
    auto& last = last_[job.id];
    bool any_gone = false;
    for (const int task : job.tasks) {
        auto& report = last[task];
        report.task = task;
        const auto found = listed.find(task);
        if (found != listed.end()) {
            report = found->second;
        } else if (!is_final(report.state) || report.state == TaskState::gone) {
            report.state = TaskState::gone;
            any_gone = true;
        }
    }
    if (any_gone) ask_accounts(job, last);
    std::vector<TaskReport> reports;
    for (const int task : job.tasks) reports.push_back(last[task]);
    return reports;
}

Result<void> SlurmExecutor::cancel(const Job& job) {
    OPGAUGE_TRY(call({"scancel", job.id}));
    return {};
}

}  // namespace opgauge
