// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/ab.h"
#include "opgauge/base/text.h"
#include "opgauge/report/run_reports.h"

#include "cli/commands.h"
#include "cli/compare_options.h"
#include "cli/exit_codes.h"
#include "cli/progress.h"
#include "cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace opgauge::cli {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Variables> variables_of(const std::vector<std::string>& words, const char* option) {
    Variables variables;
    for (const auto& word : words) {
        const auto equals = word.find('=');
        const std::string name = word.substr(0, equals);
        if (equals == std::string::npos || name.empty()) {
            return fail(ErrorKind::usage,
                        fmt::format("opgauge ab: {} {} is no KEY=VALUE", option, printable(word)));
        }
        if (!variables.emplace(name, word.substr(equals + 1)).second) {
            return fail(ErrorKind::usage,
                        fmt::format("opgauge ab: {} sets {} twice", option, printable(name)));
        }
    }
    return variables;
}

Result<AbOptions> ab_options(const AbCommandOptions& options, const Environment& environment) {
    AbOptions ab;
    ab.operators = options.operators;
    OPGAUGE_TRY_ASSIGN(ab.a.environment, variables_of(options.a, "--a"));
    OPGAUGE_TRY_ASSIGN(ab.b.environment, variables_of(options.b, "--b"));
    ab.a.corpus = options.corpus_a;
    ab.b.corpus = options.corpus_b;
    ab.a.revision = options.revision_a;
    ab.b.revision = options.revision_b;
    ab.plan = options.run.plan;
    ab.run = run_options(options.run, environment);
    OPGAUGE_TRY_ASSIGN(ab.compare, compare_options(options.compare));
    ab.replicates = options.replicates;
    // Drawn here, where it is printed and kept: the schedule itself is a function of it.
    ab.seed = options.seed ? *options.seed : std::random_device()();
    ab.early = !options.no_early_stop;
    ab.fork_server = !options.no_fork_server;
    return ab;
}

int exit_code(const AbSummary& summary, const std::vector<std::string>& fail_on) {
    if (summary.signal > 0) return 128 + summary.signal;
    if (summary.status == "failed" || summary.failed_runs > 0) return failed;
    if (!summary.judgement) return failed;
    const bool named = std::find(fail_on.begin(), fail_on.end(), "undecided") != fail_on.end();
    if (named && summary.judgement->undecided() > 0) return failed;
    return fires(summary.judgement->comparison, fail_on) ? failed : ok;
}

}  // namespace

Result<int> ab_command(const AbCommandOptions& options, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const AbOptions ab, ab_options(options, environment));
    const SystemClock clock;
    Progress progress(stderr, clock);
    auto made = run_ab(ab, environment, find_installation(environment), clock, progress);
    progress.finish();
    OPGAUGE_TRY_ASSIGN(const AbSummary summary, std::move(made));
    OPGAUGE_TRY_ASSIGN(const ReportSource source, open_report(summary.folder.string()));
    if (options.run.json) {
        fmt::print("{}", to_text(source.comparison));
    } else {
        fmt::print("{}files: {}\n", report_text(source), summary.folder.string());
    }
    if (!summary.reason.empty()) {
        fmt::print(stderr, "opgauge: {}: {}\n", summary.status, printable(summary.reason));
    }
    const bool judged = summary.signal == 0 && summary.judgement.has_value();
    if (judged && summary.judgement->comparison.refusal) {
        return fail(ErrorKind::refused, summary.judgement->comparison.refusal->message);
    }
    return exit_code(summary, options.compare.fail_on);
}

}  // namespace opgauge::cli
