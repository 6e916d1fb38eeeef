// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/compare/comparison.h"
#include "opgauge/report/comparison_report.h"

#include "cli/commands.h"
#include "cli/compare_options.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

namespace opgauge::cli {
namespace {

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
    return fires(comparison, options.fail_on) ? failed : ok;
}

}  // namespace opgauge::cli
