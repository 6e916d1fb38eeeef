// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// What a short-lived tool (a vendor's, git, python3 -c ...) left behind.
struct ToolOutput {
    std::optional<int> exit_code;  // nullopt where a signal ended it
    std::optional<int> signal;
    std::string out;  // standard output
    std::string err;  // standard error
};

// Runs a tool to its end in its own process group with stdin from /dev/null, stdout and stderr read
// separately, LC_ALL=C added. Past the deadline the group is killed and neither waited for nor read
// to its end: a hung driver leaves tools that SIGKILL does not end. Each stream is cut at 16 MiB.
// Errors: not found or not executable (kind environment), deadline passed (kind environment).
Result<ToolOutput> run_tool(const std::vector<std::string>& argv, const Environment& environment,
                            std::chrono::milliseconds deadline);

// The absolute path of a program on the environment's PATH, or nullopt.
std::optional<std::string> find_program(const std::string& name, const Environment& environment);

}  // namespace opgauge
