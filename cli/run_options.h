// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/session/run_session.h"

#include "cli/options.h"

namespace opgauge::cli {

// What the command line and the environment ask of a run.
RunOptions run_options(const RunCommandOptions& options, const Environment& environment);

}  // namespace opgauge::cli
