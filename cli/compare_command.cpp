// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/compare/comparison.h"
#include "opgauge/report/comparison_report.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/shares.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge::cli {
namespace {

// Not a verdict: a case of A that B did not measure.
constexpr std::string_view kMissing = "missing";

struct Arms {
    std::vector<std::string> a;
    std::vector<std::string> b;
};

Result<Arms> arms_of(const CompareCommandOptions& options) {
    const bool by_flags = !options.a.empty() || !options.b.empty();
    if (by_flags && !options.runs.empty()) {
        return fail(ErrorKind::usage,
                    fmt::format("opgauge compare: '{}' stands beside --a and --b; give A and B "
                                "either as two words or with --a and --b",
                                printable(options.runs.front())));
    }
    if (by_flags && !options.a.empty() && !options.b.empty()) return Arms{options.a, options.b};
    if (!by_flags && options.runs.size() == 2) return Arms{{options.runs[0]}, {options.runs[1]}};
    return fail(ErrorKind::usage,
                "opgauge compare: give two run folders, A and B, or several with --a DIR... --b "
                "DIR...");
}

Result<CompareOptions> compare_options(const CompareCommandOptions& options) {
    CompareOptions result;
    OPGAUGE_TRY_ASSIGN(result.verdict.fdr, share_of(options.fdr, "--fdr"));
    OPGAUGE_TRY_ASSIGN(result.verdict.at_least, share_of(options.at_least, "--at-least"));
    OPGAUGE_TRY_ASSIGN(result.process_noise, share_of(options.process_noise, "--process-noise"));
    result.what = *what_named(options.what);  // checked by the flag table
    result.verdict.better = result.what == What::speedup ? Better::higher : Better::lower;
    result.factors = options.factors;
    result.rule = options.cross_caliber ? CaliberRule::cross : CaliberRule::strict;
    if (options.cross_caliber && !options.fail_on.empty()) {
        return fail(ErrorKind::usage,
                    "opgauge compare: --fail-on needs verdicts, and --cross-caliber gives none; "
                    "leave one out");
    }
    return result;
}

std::size_t missing_in_b(const Comparison& comparison) {
    return count_of(comparison, LeftOutKind::only_in_a) +
           static_cast<std::size_t>(std::count_if(
               comparison.left_out.begin(), comparison.left_out.end(), [](const LeftOut& left_out) {
                   return left_out.kind == LeftOutKind::failed && left_out.arm == "B";
               }));
}

int exit_code(const Comparison& comparison, const std::vector<std::string>& fail_on) {
    const bool fired = std::any_of(fail_on.begin(), fail_on.end(), [&](const std::string& name) {
        if (name == kMissing) return missing_in_b(comparison) > 0;
        return count_of(comparison, *verdict_named(name)) > 0;
    });
    return fired ? failed : ok;
}

}  // namespace

Result<int> compare_command(const CompareCommandOptions& options) {
    OPGAUGE_TRY_ASSIGN(const Arms arms, arms_of(options));
    OPGAUGE_TRY_ASSIGN(const CompareOptions settings, compare_options(options));
    OPGAUGE_TRY_ASSIGN(const Comparison comparison, compare(arms.a, arms.b, settings));
    const auto& refusal = comparison.refusal;
    if (options.json) {
        fmt::print("{}", to_text(comparison_json(comparison)));
    } else if (!refusal || refusal->kind == RefusalKind::nothing_shared) {
        fmt::print("{}", comparison_text(comparison));
    }
    if (refusal) return fail(ErrorKind::refused, refusal->message);
    return exit_code(comparison, options.fail_on);
}

}  // namespace opgauge::cli
