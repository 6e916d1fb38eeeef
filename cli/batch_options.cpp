// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"

#include "cli/help.h"
#include "cli/option_groups.h"
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace opgauge::cli {
namespace {

constexpr const char* kRunGroup = "of each run";

// What each lane's runs are told. --devices is the batch's own: each lane gets one of them.
void add_run_options(CLI::App& command, RunCommandOptions& run) {
    add_measuring(command, run);
    for (CLI::Option* option : command.get_options()) {
        const bool own = option->check_lname("devices") || option->check_lname("help");
        if (!own) option->group(kRunGroup);
    }
}

// As words that parse to the same again.
std::vector<std::string> given_run_options(const CLI::App& command) {
    std::vector<std::string> words;
    const auto given = [](const CLI::Option* option) {
        return option->get_group() == kRunGroup && option->count() > 0;
    };
    for (const CLI::Option* option : command.get_options(given)) {
        const std::string name = "--" + option->get_lnames().front();
        if (option->get_expected_min() == 0) {
            words.push_back(name);
            continue;
        }
        std::vector<std::string> values = option->results();
        if (option->get_delimiter() != '\0') {
            values = {join(values, std::string(1, option->get_delimiter()))};
        }
        for (auto& value : values) {
            words.push_back(name);
            words.push_back(std::move(value));
        }
    }
    return words;
}

void add_selection(CLI::App& command, SelectionRequest& selection) {
    command.add_option("names", selection.names, "operators, globs, OPERATOR@FILE, nodes");
    command.add_option("--from-file", selection.from_files, "names, one a line");
    command.add_option("--stage", selection.stages, "only of these stages")->delimiter(',');
    command.add_option("--mark", selection.marks, "only with one of these marks")->delimiter(',');
    command.add_option("--failed-in", selection.failed_in, "only what failed in this batch");
    command.add_option("--not-in", selection.not_in, "only what this batch has not finished");
    // One value each, so that names may follow.
    for (const char* name : {"--from-file", "--stage", "--mark", "--failed-in", "--not-in"}) {
        command.get_option(name)->allow_extra_args(false);
    }
}

// What a scheduler is told, and how its tasks are watched.
void add_executor(CLI::App& command, BatchCommandOptions& options) {
    SlurmOptions& slurm = options.slurm;
    command.add_option("--executor", options.executor, "local, slurm")
        ->check(CLI::IsMember({"local", "slurm"}));
    command.add_option("--partition", slurm.partition, "Slurm's partition");
    command.add_option("--gres", slurm.gres, "devices of a task: gpu:1, gpu:a100:2");
    command.add_option("--account", slurm.account, "Slurm's account");
    command.add_option("--qos", slurm.qos, "Slurm's quality of service");
    command.add_option("--constraint", slurm.constraint, "features that a node must have");
    command.add_option("--task-time", slurm.minutes, "limit of a task in minutes")
        ->check(above_zero);
    command.add_option("--at-once", slurm.at_once, "tasks that run at one time, at most")
        ->check(above_zero);
    command.add_option("--sbatch", slurm.more, "an option for sbatch, verbatim")
        ->allow_extra_args(false);
    command.add_option("--chunk-minutes", options.chunk_minutes, "expected time of a task")
        ->check(CLI::Range(0.001, 1e5));
    command.add_option("--tasks", options.most_tasks, "tasks, at most")
        ->check(CLI::Range(1, 1'000'000));
    command.add_option("--times-from", options.times_from, "batch whose times are expected");
    command.add_option("--task-retries", options.task_retries, "submits of a lost task again")
        ->check(CLI::Range(0, 100));
    command.add_option("--pending-limit", options.pending_limit_s, "seconds without a start")
        ->check(at_least_zero);
    command.add_option("--poll", options.poll_s, "seconds between looks")
        ->check(CLI::Range(0.1, 3600.0));
    command.add_option("--record-wait", options.record_wait_s, "seconds for a late record")
        ->check(at_least_zero);
}

}  // namespace

void add_batch(CLI::App& app, BatchCommandOptions& options) {
    CLI::App& command = add_command(app, "batch", "measure many operators");
    add_run_options(command, options.run);
    add_selection(command, options.selection);
    command.add_option("--root", options.run.root, "folder for new batch folders");
    command.add_option("--run-dir", options.run.run_dir, "exactly this folder; absent or empty");
    // An unset variable in a script must not start a new batch.
    command.add_option("--resume", options.resume, "go on with this batch")
        ->check([](const std::string& value) {
            return value.empty() ? std::string("the value is empty") : std::string();
        });
    command.add_option("--wait-lease", options.wait_lease_s, "wait so long for leased devices")
        ->check(at_least_zero);
    command.add_option("--lane-silence", options.lane_silence_s, "end a lane that is silent")
        ->check(at_least_zero);
    command.add_option("--lanes-per-device", options.lanes_per_device, "lanes that share a device")
        ->check(CLI::Range(1, 64));
    command.add_flag("--no-fork-server", options.no_fork_server, "a new process for each child");
    command.add_flag("--no-quarantine", options.no_quarantine, "measure quarantined cases too");
    command.add_flag("--quarantine", options.quarantine, "list quarantined cases");
    add_executor(command, options);
    add_json(command, options.json);
    CLI::App* status = command.add_subcommand("status", "a batch from another shell");
    status->add_option("folder", options.status_of, "its folder")->required();
    status->add_flag("--where", options.where, "where the time went");
    add_json(*status, options.json);
    const std::string text(help_page("batch"));
    status->formatter_fn([text](const CLI::App*, std::string, CLI::AppFormatMode) { return text; });
    status->callback([&options] { options.action = "status"; });
    command.callback([&options, &command] { options.run_options = given_run_options(command); });
}

Result<RunCommandOptions> parse_run_options(const std::vector<std::string>& words) {
    RunCommandOptions run;
    CLI::App command;
    add_run_options(command, run);
    try {
        command.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        return fail(ErrorKind::usage,
                    fmt::format("the batch's options of run: {}", printable(error.what())));
    }
    return run;
}

}  // namespace opgauge::cli
