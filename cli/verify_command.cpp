// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/compare/reproduction.h"
#include "opgauge/plan/planner.h"
#include "opgauge/record/digests.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/report/verify_report.h"
#include "opgauge/session/rerun.h"
#include "opgauge/session/run_session.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/shares.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace opgauge::cli {
namespace {

constexpr std::chrono::seconds kStall{120};  // as run's own default

Result<RecordedRun> finished_run(const std::string& run_dir) {
    OPGAUGE_TRY_ASSIGN(RecordedRun run, read_run(run_dir));
    if (run.status) return run;
    return fail(ErrorKind::refused,
                fmt::format("{} is incomplete: it has no status.json, so there is nothing whole to "
                            "verify",
                            run_dir));
}

// What the recorded command line named; nothing where it was another command's.
NodeRequest asked_of(const RecordedRun& run) {
    auto words = get_optional<std::vector<std::string>>(run.identity, "argv")
                     .value_or(std::vector<std::string>{});
    if (words.size() < 2 || words[1] != "run") return {};
    Options options;
    CLI::App app;
    add_commands(app, options);
    words.erase(words.begin());
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        app.parse(words);
    } catch (const CLI::ParseError&) {
        return {};  // of another version
    }
    return options.run.plan.request;
}

RunOptions run_options(const VerifyOptions& options, const RecordedRun& run,
                       const Environment& environment) {
    RunOptions again;
    again.root = options.root.empty() ? environment.get_non_empty("OPGAUGE_ROOT").value_or("runs")
                                      : options.root;
    again.stopping = stopping_of_run(run);
    again.limits.stall = kStall;
    again.argv = options.argv;
    again.tool_version = OPGAUGE_VERSION;
    again.same_setup_as = run.identity;
    return again;
}

Result<RunSummary> run_again(const VerifyOptions& options, const RecordedRun& run,
                             const Environment& environment) {
    const Installation installation = find_installation(environment);
    OPGAUGE_TRY_ASSIGN(PlanOptions asked, options_of_run(run, asked_of(run)));
    if (!options.devices.empty()) asked.devices = options.devices;
    OPGAUGE_TRY_ASSIGN(const Plan plan, make_plan(asked, environment, installation));
    OPGAUGE_TRY_ASSIGN(const auto provider,
                       open_corpus(plan.corpus_name == "native" ? "native" : plan.corpus_root,
                                   plan.command.argv.front(), installation));
    const SystemClock clock;
    Progress progress(stderr, clock);
    auto summary = run_plan(plan, *provider, run_options(options, run, environment), environment,
                            clock, progress);
    progress.finish();
    return summary;
}

void check_files(const RecordedRun& run, Verification& verification) {
    auto check = check_digests(run.directory);
    if (check) {
        verification.digests = std::move(*check);
    } else {
        verification.no_digests = check.error().message;
    }
}

int show(const Verification& verification, bool json) {
    fmt::print("{}", json ? to_text(verify_json(verification)) : verify_text(verification));
    return verification.holds() ? ok : failed;
}

}  // namespace

Result<int> verify_command(const VerifyOptions& options, const Environment& environment) {
    ReproductionSettings settings;
    OPGAUGE_TRY_ASSIGN(settings.at_least, share_of(options.at_least, "--at-least"));
    OPGAUGE_TRY_ASSIGN(settings.process_noise, share_of(options.process_noise, "--process-noise"));
    OPGAUGE_TRY_ASSIGN(const RecordedRun run, finished_run(options.run_dir));
    Verification verification;
    verification.run_dir = options.run_dir;
    check_files(run, verification);
    // Numbers of a file that was changed prove nothing, whether they come again or not.
    const bool changed = verification.digests && !verification.digests->holds();
    if (options.digests_only && !verification.digests) {
        return fail(ErrorKind::usage, verification.no_digests);
    }
    if (changed || options.digests_only) return show(verification, options.json);
    OPGAUGE_TRY_ASSIGN(const RunSummary again, run_again(options, run, environment));
    if (again.status == "interrupted") return again.exit_code;
    verification.new_run_dir = again.run_dir.string();
    OPGAUGE_TRY_ASSIGN(verification.numbers, reproduce(run.directory, again.run_dir, settings));
    return show(verification, options.json);
}

}  // namespace opgauge::cli
