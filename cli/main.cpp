// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/environment.h"
#include "opgauge/base/process.h"
#include "opgauge/run/signals.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/parse_errors.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace {

using namespace opgauge::cli;

opgauge::Result<int> dispatch(const CLI::App& app, const Options& options) {
    const auto environment = opgauge::Environment::of_this_process();
    if (app.got_subcommand("devices")) return devices_command(options.devices, environment);
    if (app.got_subcommand("plan")) return plan_command(options.plan, environment);
    if (app.got_subcommand("corpus")) return corpus_command(options.corpus, environment);
    if (app.got_subcommand("run")) return run_command(options.run, environment);
    if (app.got_subcommand("batch")) return batch_command(options.batch, environment);
    if (app.got_subcommand("show")) return show_command(options.show);
    if (app.got_subcommand("compare")) return compare_command(options.compare);
    if (app.got_subcommand("ab")) return ab_command(options.ab, environment);
    if (app.got_subcommand("report")) return report_command(options.report);
    if (app.got_subcommand("verify")) return verify_command(options.verify, environment);
    if (app.got_subcommand("history")) return history_command(options.history, environment);
    if (app.got_subcommand("tune")) return tune_command(options.tune);
    if (app.got_subcommand("batch-task"))
        return batch_task_command(options.batch_task, environment);
    if (app.got_subcommand("warm-shard"))
        return warm_shard_command(options.warm_shard, environment);
    if (app.got_subcommand("batch-lane"))
        return batch_lane_command(options.batch_lane, environment);
    return doctor_command(options.doctor, environment);
}

int run_main(int argc, char** argv) {
    opgauge::open_missing_standard_fds();
    const opgauge::SignalGuard signals;
    Options options;
    options.run.run.argv.assign(argv, argv + argc);
    options.batch.argv.assign(argv, argv + argc);
    options.ab.run.run.argv = options.run.run.argv;
    options.batch_lane.run.run.argv = options.run.run.argv;
    options.verify.argv = options.run.run.argv;
    CLI::App app;
    add_commands(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        fmt::print(stderr, "opgauge: {}\n", parse_error_line(app, error));
        return usage;
    }
    const auto code = dispatch(app, options);
    if (code) return *code;
    fmt::print(stderr, "opgauge: {}\n", code.error().message);
    return exit_code_of(code.error().kind);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run_main(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "opgauge: a defect of opgauge itself, please report it: {}\n",
                   error.what());
        return defect;
    }
}
