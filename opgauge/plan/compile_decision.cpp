// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/compile_decision.h"

#include "opgauge/base/usable_cores.h"

#include <fmt/format.h>

namespace opgauge {

Result<CompilePlan> decide_compile(const TuningOptions& options, const Backend& backend,
                                   const std::string& tune) {
    CompilePlan plan;
    plan.overlap = !options.no_overlap;
    if (tune == "off") {
        plan.why = "tuning is off: the corpus compiles on its own";
        return plan;
    }
    if (!backend.capabilities().contains(Capability::fork_compile)) {
        plan.why = fmt::format("backend {} has no fork_compile", backend.name());
        if (options.compile_jobs <= 1) return plan;
        return fail(ErrorKind::refused, fmt::format("--compile-jobs {}: {}; leave it out",
                                                    options.compile_jobs, plan.why));
    }
    if (options.compile_jobs > 0) {
        plan.jobs = options.compile_jobs;
        plan.why = "--compile-jobs";
        return plan;
    }
    plan.jobs = usable_cores().value_or(1);
    plan.why = "the cores that this process may use";
    return plan;
}

}  // namespace opgauge
