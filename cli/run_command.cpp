// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/planner.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/report/tuning_report.h"
#include "opgauge/session/run_session.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/run_options.h"

#include <fmt/format.h>

#include <cstdio>

namespace opgauge::cli {
namespace {

Result<void> report(const RunSummary& summary, const RunCommandOptions& options) {
    OPGAUGE_TRY_ASSIGN(const RecordedRun run, read_run(summary.run_dir));
    if (options.json) {
        fmt::print("{}", to_text(Json{{"run_dir", summary.run_dir.string()},
                                      {"status", optional_json(run.status)}}));
        return {};
    }
    fmt::print("{}{}\nfiles: {}\n", latency_text(run), tuning_text(run), summary.run_dir.string());
    return {};
}

}  // namespace

// The command is the flow: plan, run (which records), report.
Result<int> run_command(const RunCommandOptions& options, const Environment& environment) {
    const Installation installation = find_installation(environment);
    OPGAUGE_TRY_ASSIGN(const Plan plan, make_plan(options.plan, environment, installation));
    OPGAUGE_TRY_ASSIGN(const auto provider,
                       open_corpus(plan.corpus_name == "native" ? "native" : plan.corpus_root,
                                   plan.command.argv.front(), installation));
    const SystemClock clock;
    Progress progress(stderr, clock);
    OPGAUGE_TRY_ASSIGN(
        const RunSummary summary,
        run_plan(plan, *provider, run_options(options, environment), environment, clock, progress));
    progress.finish();
    std::fflush(stderr);
    for (const auto& line : summary.tuning) fmt::print(stderr, "opgauge: tuning: {}\n", line);
    OPGAUGE_TRY(report(summary, options));
    if (summary.status != "passed") {
        fmt::print(stderr, "opgauge: {}: {}\n", summary.status, summary.reason);
    }
    return summary.exit_code;
}

}  // namespace opgauge::cli
