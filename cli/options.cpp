// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include "opgauge/base/text.h"

#include "cli/help.h"
#include "cli/option_groups.h"

#include <CLI/CLI.hpp>

#include <cmath>

namespace opgauge::cli {

void add_json(CLI::App& command, bool& json) {
    command.add_flag("--json", json, "print facts as JSON");
}

std::string at_least_zero(const std::string& value) {
    const auto number = parse_double(value);
    return number && std::isfinite(*number) && *number >= 0
               ? ""
               : printable(value) + " is not a number of 0 or more";
}

std::string above_zero(const std::string& value) {
    const auto number = parse_double(value);
    return number && std::isfinite(*number) && *number > 0
               ? ""
               : printable(value) + " is not a number above 0";
}

CLI::App& add_command(CLI::App& app, const char* name, const char* description) {
    CLI::App* command = app.add_subcommand(name, description);
    const std::string text(help_page(name));
    command->formatter_fn(
        [text](const CLI::App*, std::string, CLI::AppFormatMode) { return text; });
    return *command;
}

// What selects backend, device and corpus: the same names on every command that has them.
void add_where(CLI::App& command, PlanOptions& plan) {
    command.add_option("--corpus", plan.corpus, "corpus folder, or 'native'");
    command.add_option("--backend", plan.backend, "backend or alias, or 'auto'");
    command.add_option("--devices,--gpus", plan.devices, "devices: 0, 0-3, a UUID, all, idle");
    command.add_option("--python", plan.python, "interpreter that runs the corpus");
}

namespace {

// An empty value is a variable that was not set: taking it for "not given" would do something else
// than was asked, without a word.
void must_say_something(CLI::Option* option) {
    option->check([](const std::string& value) {
        return value.empty() ? std::string("the value is empty") : std::string();
    });
}

void add_warmup(CLI::App& command, WarmupOptions& warmup) {
    must_say_something(
        command.add_option("--warmup-devices", warmup.devices, "tune on so many devices first"));
    command.add_flag("--share-devices", warmup.share, "more shards than devices may share them");
    command.add_flag("--confirm", warmup.confirm, "tune keys that shards disagree on once more");
    must_say_something(
        command.add_option("--overlap-keys", warmup.overlap, "cases for two shards: N or P%"));
}

void add_operator(CLI::App& command, PlanOptions& plan) {
    command.add_option("operator", plan.request.operator_, "operator to run");
    command.add_option("--file", plan.request.file, "the operator's file in the corpus");
    command.add_option("--node", plan.request.node, "a pytest node, taken verbatim");
}

// How an operator is tuned and timed, and which of its cases: the same for all of a batch.
void add_how(CLI::App& command, PlanOptions& plan) {
    command.add_option("--timer", plan.timer, "graph, event, direct, host");
    command.add_option("--l2", plan.l2, "cold or hot: cache before each call (timer event)");
    command.add_option("--heat", plan.heat, "burst or sustained")
        ->check(CLI::IsMember({"burst", "sustained"}));
    must_say_something(command.add_option("--tune", plan.tuning.mode, "record, replay, off"));
    must_say_something(command.add_option("--from", plan.tuning.from,
                                          "the run or tuning.db whose winners are used"));
    command.add_flag("--allow-misses", plan.tuning.allow_misses, "tune live what is not there");
    command
        .add_option("--accept-scope", plan.tuning.accept_scope,
                    "facts of the winners' scope that may differ, comma separated")
        ->delimiter(',');
    command
        .add_option("--compile-jobs", plan.tuning.compile_jobs,
                    "children that compile a key's configurations; default: all cores")
        ->check(CLI::Range(1, 1024));
    command.add_flag("--no-overlap", plan.tuning.no_overlap,
                     "time no configuration while others compile");
    must_say_something(command.add_option("--tune-timing", plan.tuning.timing,
                                          "race or full: how configurations are timed"));
    add_warmup(command, plan.warmup);
    command.add_option("--shapes", plan.shapes, "upstream, compact, or a YAML file");
    command.add_option("--level", plan.level, "core, comprehensive")
        ->check(CLI::IsMember({"core", "comprehensive"}));
    command.add_option("--dtypes", plan.dtypes, "dtypes, comma separated")->delimiter(',');
    command.add_option("--warmup", plan.warmup_ms, "the corpus's own warm-up in ms (direct)")
        ->check(above_zero);
    command.add_option("--iter", plan.iteration_ms, "the corpus's own repetition in ms (direct)")
        ->check(above_zero);
}

}  // namespace

// What `run` and `batch` measure with.
void add_measuring(CLI::App& command, RunCommandOptions& options) {
    add_how(command, options.plan);
    add_where(command, options.plan);
    StoppingSettings& stopping = options.run.stopping;
    command.add_option("--precision", stopping.precision, "relative half-width of the interval")
        ->check(CLI::Range(1e-6, 1.0));
    command.add_option("--min-samples", stopping.min_samples, "samples per side, at least")
        ->check(CLI::Range(1, 100'000));
    command.add_option("--max-time", stopping.max_time_s, "seconds per side, at most")
        ->check(CLI::Range(1e-3, 3600.0));
    command
        .add_option_function<std::string>(
            "--stopping",
            [&stopping](const std::string& name) {
                stopping.rule = *stopping_rule_named(name);  // checked below
            },
            "interval, or NVBench's stdrel or entropy")
        ->check(CLI::IsMember({"interval", "stdrel", "entropy"}));
    command.add_flag("--exclusive", options.run.exclusive, "refuse a device that others use");
    command.add_flag("--retry-capture", options.run.retry_capture,
                     "try graphs again that are known to fail");
    command.add_option("--timeout", options.timeout_s, "hard limit for the child in s; 0: none")
        ->check(at_least_zero);
    command.add_option("--stall", options.stall_s, "limit without progress in s; 0: none")
        ->check(at_least_zero);
    command.add_flag("--no-check", options.no_check, "do not compare the sides' outputs");
    command.add_flag_callback(
        "--parallel-measure", [&options] { options.run.measuring = Measuring::parallel; },
        "measure while others of the host measure");
}

// What is compared, and what makes a verdict.
void add_verdicts(CLI::App& command, CompareCommandOptions& options) {
    command.add_option("--what", options.what, "candidate, base, speedup")
        ->check(CLI::IsMember({"candidate", "base", "speedup"}));
    command.add_option("--factor", options.factors, "facts that may differ, comma separated")
        ->delimiter(',');
    command.add_option("--fdr", options.fdr, "false discovery rate over all rows");
    command.add_option("--at-least", options.at_least, "the smallest difference that matters");
    command.add_option("--process-noise", options.process_noise,
                       "what two processes of equal code may differ by");
    command.add_option("--fail-on", options.fail_on, "verdicts that end with exit code 1")
        ->delimiter(',')
        ->check(CLI::IsMember({"faster", "slower", "same", "undecided", "missing"}));
}

namespace {

void add_run(CLI::App& app, RunCommandOptions& options) {
    CLI::App& command = add_command(app, "run", "measure one operator");
    add_operator(command, options.plan);
    add_measuring(command, options);
    command.add_option("--root", options.root, "folder for new run folders");
    command.add_option("--run-dir", options.run_dir, "exactly this folder; absent or empty");
    command.add_option("--resume", options.resume, "go on with this run folder")
        ->check(CLI::ExistingDirectory)
        ->excludes("--run-dir")
        ->excludes("--root");
    add_json(command, options.json);
}

// Started by batch, not by people: in no help page.
void add_batch_lane(CLI::App& app, BatchLaneOptions& options) {
    CLI::App& command = *app.add_subcommand("batch-lane", "a lane of a batch");
    command.group("");
    add_measuring(command, options.run);
    command.add_option("--lanes-per-device", options.lanes_per_device, "that share its device");
    command.add_flag("--no-fork-server", options.no_fork_server, "start each child from nothing");
    command.add_flag("--no-quarantine", options.no_quarantine, "run what is known to crash");
    command.add_option("channel", options.channel_fd, "where it asks and tells")->required();
}

void add_corpus(CLI::App& app, CorpusOptions& options) {
    CLI::App& command = add_command(app, "corpus", "operators of a corpus");
    command.add_option("action", options.action, "list, show")
        ->required()
        ->check(CLI::IsMember({"list", "show"}));
    command.add_option("operator", options.plan.request.operator_, "operator to show");
    add_where(command, options.plan);
    add_json(command, options.json);
}

void add_compare(CLI::App& app, CompareCommandOptions& options) {
    CLI::App& command = add_command(app, "compare", "A against B, with a verdict a case");
    command.add_option("runs", options.runs, "two run folders, or folders of runs");
    command.add_option("--a", options.a, "the runs of A");
    command.add_option("--b", options.b, "the runs of B");
    command.add_flag("--cross-caliber", options.cross_caliber, "show without a verdict");
    add_verdicts(command, options);
    add_json(command, options.json);
}

void add_report(CLI::App& app, ReportOptions& options) {
    CLI::App& command = add_command(app, "report", "a run, batch or comparison to show around");
    command.add_option("path", options.path, "run folder, batch folder, comparison")->required();
    command.add_option("--format", options.format, "text, markdown, csv, json, html")
        ->check(CLI::IsMember({"text", "markdown", "csv", "json", "html"}));
    must_say_something(command.add_option("--output", options.output, "file that is written"));
}

void add_verify(CLI::App& app, VerifyOptions& options) {
    CLI::App& command = add_command(app, "verify", "does a run reproduce");
    command.add_option("run", options.run_dir, "run folder")->required();
    must_say_something(
        command.add_option("--devices,--gpus", options.devices, "another device of that model"));
    command.add_option("--root", options.root, "folder for the new run's folder");
    command.add_option("--at-least", options.at_least, "the smallest difference that matters");
    command.add_option("--process-noise", options.process_noise,
                       "what two processes of equal code may differ by");
    command.add_flag("--digests-only", options.digests_only, "check the files, run nothing");
    add_json(command, options.json);
}

void add_history(CLI::App& app, HistoryOptions& options) {
    CLI::App& command = add_command(app, "history", "an index over many runs");
    command.add_option("folders", options.folders, "run folders, or folders of runs");
    must_say_something(command.add_option("--index", options.index, "the index's file"));
    must_say_something(
        command.add_option("--operator", options.operator_name, "the trend of its cases"));
    must_say_something(
        command.add_option("--caliber", options.caliber, "of which caliber: its id's beginning"));
    add_json(command, options.json);
}

void add_tune(CLI::App& app, TuneOptions& options) {
    CLI::App& command = add_command(app, "tune", "tuning stores");
    command.add_option("action", options.action, "list, show, diff, merge, import, export")
        ->required()
        ->check(CLI::IsMember({"list", "show", "diff", "merge", "import", "export"}));
    command.add_option("paths", options.paths, "stores, run folders, files")->required();
    command.add_option("--kernel", options.kernel, "only this kernel");
    command.add_option("--into", options.into, "the store that is written (merge, import)");
    command.add_option("--to", options.to, "the format that is written (export)")
        ->check(CLI::IsMember({"flaggems"}));
    command.add_option("--scope", options.scope, "FACT=VALUE: what is known, or what is taken");
    command.add_option("--conditions", options.conditions, "how the timings were taken (import)")
        ->check(CLI::IsMember({"noisy", "unknown", "quiet_serial"}));
    command.add_option("--wait", options.wait_s, "seconds to wait for a locked store")
        ->check(CLI::Range(0, 86'400));
    add_json(command, options.json);
}

}  // namespace

void add_commands(CLI::App& app, Options& options) {
    app.name("opgauge");
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("opgauge ") + OPGAUGE_VERSION);
    const std::string overview(help_page("opgauge"));
    app.formatter_fn(
        [overview](const CLI::App*, std::string, CLI::AppFormatMode) { return overview; });

    CLI::App& devices = add_command(app, "devices", "what devices are here");
    devices.add_option("--backend", options.devices.backend, "only this backend");
    add_json(devices, options.devices.json);

    CLI::App& plan = add_command(app, "plan", "what run would do");
    add_operator(plan, options.plan.plan);
    add_how(plan, options.plan.plan);
    add_where(plan, options.plan.plan);
    add_json(plan, options.plan.json);

    add_corpus(app, options.corpus);
    add_run(app, options.run);
    add_batch(app, options.batch);

    CLI::App& show = add_command(app, "show", "a finished run again");
    show.add_option("run", options.show.run_dir, "run folder")->required();
    show.add_option("--case", options.show.case_index, "samples of one case")
        ->check(CLI::Range(1, 1'000'000));
    add_json(show, options.show.json);

    add_compare(app, options.compare);
    add_ab(app, options.ab);
    add_report(app, options.report);
    add_verify(app, options.verify);
    add_history(app, options.history);
    add_tune(app, options.tune);

    // Started by batch, run and schedulers, not by people: in no help page.
    CLI::App* task = app.add_subcommand("batch-task", "a task of a batch");
    task->group("");
    task->add_option("folder", options.batch_task.folder, "the batch's")->required();
    CLI::App* shard = app.add_subcommand("warm-shard", "a shard of a warm-up");
    shard->group("");
    shard->add_option("job", options.warm_shard.job, "its job")->required();
    shard->add_option("channel", options.warm_shard.channel_fd, "where it tells")->required();
    add_batch_lane(app, options.batch_lane);

    CLI::App& doctor = add_command(app, "doctor", "what works, what is wrong, the cure");
    add_where(doctor, options.doctor.plan);
    auto* parse = doctor.add_option("--parse", options.doctor.parse, "output of a vendor's tool");
    doctor.add_option("--command", options.doctor.command, "what printed it")->needs(parse);
    auto* timers = doctor.add_flag("--timers", options.doctor.timers, "check a device's timers");
    timers->excludes(parse);
    doctor.add_flag("--again", options.doctor.again, "also where a record is kept")->needs(timers);
    add_json(doctor, options.doctor.json);
}

}  // namespace opgauge::cli
