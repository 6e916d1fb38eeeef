// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/compile_decision.h"

#include "opgauge/base/usable_cores.h"

#include <fmt/format.h>

namespace opgauge {

Result<CompilePlan> decide_compile(const TuningOptions& options, const Backend& backend,
                                   const std::string& tune) {
    const bool overlap = !options.no_overlap;
    if (tune == "off") {
        return CompilePlan{1, overlap, "tuning is off: the corpus compiles alone"};
    }
    if (!backend.capabilities().contains(Capability::fork_compile)) {
        const std::string why = fmt::format("backend {} has no fork_compile", backend.name());
        if (options.compile_jobs <= 1) return CompilePlan{1, overlap, why};
        return fail(ErrorKind::refused,
                    fmt::format("--compile-jobs {}: {}; leave it out", options.compile_jobs, why));
    }
    const bool asked = options.compile_jobs > 0;
    return CompilePlan{asked ? options.compile_jobs : usable_cores().value_or(1), overlap,
                       asked ? "--compile-jobs" : "the cores that this process may use"};
}

}  // namespace opgauge
