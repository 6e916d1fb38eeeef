// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_options.h"

#include "cli/shares.h"

#include <algorithm>
#include <string_view>

namespace opgauge::cli {
namespace {

// Not a verdict: a case of A that B did not measure.
constexpr std::string_view kMissing = "missing";

std::size_t missing_in_b(const Comparison& comparison) {
    return count_of(comparison, LeftOutKind::only_in_a) +
           static_cast<std::size_t>(std::count_if(
               comparison.left_out.begin(), comparison.left_out.end(), [](const LeftOut& left_out) {
                   return left_out.kind == LeftOutKind::failed && left_out.arm == "B";
               }));
}

}  // namespace

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

bool fires(const Comparison& comparison, const std::vector<std::string>& fail_on) {
    return std::any_of(fail_on.begin(), fail_on.end(), [&](const std::string& name) {
        if (name == kMissing) return missing_in_b(comparison) > 0;
        return count_of(comparison, *verdict_named(name)) > 0;
    });
}

}  // namespace opgauge::cli
