// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/compare/comparison.h"

#include "cli/options.h"

#include <string>
#include <vector>

namespace opgauge::cli {

// What the command line asks of a comparison. Kind usage.
Result<CompareOptions> compare_options(const CompareCommandOptions& options);

// Does a row have a verdict, or B lack one, that --fail-on names?
bool fires(const Comparison& comparison, const std::vector<std::string>& fail_on);

}  // namespace opgauge::cli
