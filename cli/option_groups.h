// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace opgauge::cli {

// The parts that several commands' flag tables are made of (options.cpp).
CLI::App& add_command(CLI::App& app, const char* name, const char* description);
void add_json(CLI::App& command, bool& json);
// What `run` and `batch` measure with: all options of `run` but its operator and folder.
void add_measuring(CLI::App& command, RunCommandOptions& options);
// What `compare` and `ab` judge by.
void add_verdicts(CLI::App& command, CompareCommandOptions& options);

// Checks of a number; CLI11's own name a bound of 309 digits.
std::string at_least_zero(const std::string& value);
std::string above_zero(const std::string& value);

// The flag table of `ab` (ab_options.cpp).
void add_ab(CLI::App& app, AbCommandOptions& options);
// The flag table of `batch` (batch_options.cpp).
void add_batch(CLI::App& app, BatchCommandOptions& options);
// Options of `run` as a batch keeps them. Kind usage: this opgauge does not know them.
Result<RunCommandOptions> parse_run_options(const std::vector<std::string>& words);

}  // namespace opgauge::cli
