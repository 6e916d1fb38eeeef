// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/batch/batch_folder.h"
#include "opgauge/batch/recover.h"
#include "opgauge/batch/setup.h"
#include "opgauge/batch/slurm_batch.h"
#include "opgauge/batch/task_run.h"

#include "cli/batch_parts.h"
#include "cli/commands.h"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

namespace opgauge::cli {
namespace {

namespace fs = std::filesystem;

// Plain lines: a job takes hours and its states change seldom.
class TaskLines final : public TaskObserver {
  public:
    void on_submit(const Job& job) override {
        fmt::print(stderr, "submitted job {} with {} tasks\n", job.id, job.tasks.size());
    }
    void on_change(const TaskReport& report) override {
        if (is_final(report.state)) return;  // its end follows
        fmt::print(stderr, "task {}  {}{}{}\n", report.task, lower(report.word),
                   report.node.empty() ? "" : " on " + report.node,
                   report.reason.empty() ? "" : " (" + report.reason + ")");
    }
    void on_end(const TaskEnd& end) override {
        fmt::print(stderr, "task {}  {}{}{}\n", end.task, name_of(end.ending),
                   end.node.empty() ? "" : " on " + end.node,
                   end.reason.empty() ? "" : ": " + printable(end.reason));
    }
    void on_note(const std::string& text) override {
        fmt::print(stderr, "opgauge: {}\n", printable(text, 1'000));
    }
};

Result<void> check(const BatchCommandOptions& options) {
    if (!options.run.plan.devices.empty()) {
        return fail(ErrorKind::usage,
                    "--devices is not for --executor slurm: Slurm gives the devices; say how many "
                    "with --gres");
    }
    if (!options.run.plan.warmup.devices.empty()) {
        return fail(ErrorKind::usage,
                    "--warmup-devices is not for batch: its lanes use all devices already");
    }
    return {};
}

// This file, by a name that the nodes see too.
Result<std::string> own_program() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    if (!error) return path.string();
    return fail(ErrorKind::environment,
                fmt::format("cannot tell where this program is: {}", error.message()));
}

SlurmBatch settings_of(const BatchCommandOptions& options, const Environment& environment) {
    SlurmBatch settings;
    settings.slurm = options.slurm;
    settings.limits.poll = std::chrono::milliseconds(static_cast<int>(options.poll_s * 1e3));
    settings.limits.record = std::chrono::seconds(options.record_wait_s);
    settings.limits.pending = std::chrono::seconds(options.pending_limit_s);
    settings.limits.retries = options.task_retries;
    settings.chunks.seconds = options.chunk_minutes * 60.0;
    settings.chunks.most = options.most_tasks;
    settings.backend = options.run.plan.backend.empty()
                           ? environment.get_non_empty("ZL_BACKEND").value_or("")
                           : options.run.plan.backend;
    return settings;
}

// Seconds that each entry took in an earlier batch.
Result<std::map<std::string, double>> seconds_in(const std::string& folder) {
    std::map<std::string, double> seconds;
    if (folder.empty()) return seconds;
    OPGAUGE_TRY_ASSIGN(const Batch batch, read_batch(folder));
    for (const auto& item : batch.items) {
        if (is_finished(item)) seconds[item.entry.name] = item.result.seconds;
    }
    return seconds;
}

struct Prepared {
    Batch batch;
    BatchFolder folder;
};

Result<Prepared> prepare_new(const BatchCommandOptions& options, SlurmBatch& settings,
                             const Environment& environment, const Clock& clock) {
    OPGAUGE_TRY_ASSIGN(const auto entries,
                       selected_entries(options, options.run.plan, environment));
    OPGAUGE_TRY_ASSIGN(settings.seconds, seconds_in(options.times_from));
    OPGAUGE_TRY_ASSIGN(settings.program, own_program());
    Batch batch;
    for (const auto& entry : entries) batch.items.emplace_back().entry = entry;
    const fs::path root = options.run.root.empty()
                              ? environment.get_non_empty("OPGAUGE_ROOT").value_or("runs")
                              : options.run.root;
    OPGAUGE_TRY_ASSIGN(auto folder,
                       BatchFolder::claim(root, options.run.run_dir, clock.wall_time()));
    std::error_code error;
    batch.folder = folder.path();
    batch.argv = options.argv;
    batch.working_directory = fs::current_path(error).string();
    batch.run_options = options.run_options;
    batch.lane_options = batch_lane_options(options);
    batch.selection = to_json(options.selection);
    batch.started = utc_text(clock.wall_time());
    assign_run_dirs(batch.items);
    OPGAUGE_TRY(prepare_tasks(batch, settings, environment));
    return Prepared{std::move(batch), std::move(folder)};
}

// What is given for Slurm beside --resume wins over what the batch was started with.
void override_with(SlurmOptions& kept, const SlurmOptions& given) {
    const auto text = [](std::string& to, const std::string& from) {
        if (!from.empty()) to = from;
    };
    text(kept.partition, given.partition);
    text(kept.account, given.account);
    text(kept.qos, given.qos);
    text(kept.constraint, given.constraint);
    if (given.minutes > 0) kept.minutes = given.minutes;
    if (given.at_once > 0) kept.at_once = given.at_once;
    if (!given.more.empty()) kept.more = given.more;
}

// The chunks and the options of the runs were written at the start and hold.
Result<Prepared> prepare_resumed(const BatchCommandOptions& options, SlurmBatch& settings) {
    OPGAUGE_TRY_ASSIGN(auto batch, read_batch(options.resume));
    OPGAUGE_TRY_ASSIGN(auto folder, BatchFolder::open(batch.folder));
    OPGAUGE_TRY_ASSIGN(batch, read_batch(batch.folder));
    if (!options.run_options.empty() && options.run_options != batch.run_options) {
        return fail(ErrorKind::refused,
                    fmt::format("--resume {}: its options are '{}', not '{}'; start a new batch",
                                printable(batch.folder.string()), join(batch.run_options, " "),
                                join(options.run_options, " ")));
    }
    if (!options.slurm.gres.empty()) {
        return fail(ErrorKind::refused,
                    "--resume: --gres was said at the batch's start and holds; start a new batch "
                    "for another");
    }
    OPGAUGE_TRY_ASSIGN(settings.slurm, read_slurm_options(batch.folder));
    override_with(settings.slurm, options.slurm);
    return Prepared{std::move(batch), std::move(folder)};
}

}  // namespace

Result<int> slurm_batch_command(const BatchCommandOptions& options,
                                const Environment& environment) {
    OPGAUGE_TRY(check(options));
    const SystemClock clock;
    SlurmBatch settings = settings_of(options, environment);
    OPGAUGE_TRY_ASSIGN(auto prepared, options.resume.empty()
                                          ? prepare_new(options, settings, environment, clock)
                                          : prepare_resumed(options, settings));
    TaskLines lines;
    OPGAUGE_TRY(run_slurm(prepared.batch, prepared.folder, settings, environment, clock, lines));
    report_batch(prepared.batch, options);
    return prepared.batch.exit_code;
}

Result<int> batch_task_command(const BatchTaskOptions& options, const Environment& environment) {
    const SystemClock clock;
    return run_task(options.folder, environment, clock);
}

}  // namespace opgauge::cli
