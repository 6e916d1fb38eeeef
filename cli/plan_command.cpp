// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/planner.h"
#include "opgauge/session/python_probe.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

namespace opgauge::cli {

Result<int> plan_command(const PlanCommandOptions& options, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(Plan plan,
                       make_plan(options.plan, environment, find_installation(environment)));
    narrow_capabilities(plan, environment);
    fmt::print("{}", options.json ? to_text(to_json(plan)) : to_text(plan));
    return ok;
}

}  // namespace opgauge::cli
