// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

namespace opgauge::cli {

RunOptions run_options(const RunCommandOptions& options, const Environment& environment) {
    RunOptions run = options.run;
    run.tool_version = OPGAUGE_VERSION;
    run.check_outputs = !options.no_check;
    run.resume = !options.resume.empty();
    run.run_dir = run.resume ? options.resume : options.run_dir;
    run.root = options.root.empty() ? environment.get_non_empty("OPGAUGE_ROOT").value_or("runs")
                                    : options.root;
    run.limits.total = std::chrono::seconds(options.timeout_s);
    run.limits.stall = std::chrono::seconds(options.stall_s);
    return run;
}

}  // namespace opgauge::cli
