// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// Writes the stacks of a Python process into `log` with py-spy; false: it could not. Empty where
// py-spy is not on the PATH. For ChildSpec::dump_stacks.
std::function<bool(long long pid)> py_spy(const Environment& environment,
                                          const std::filesystem::path& log);

// Where the main thread of the process was, as the last dump in `log` says, py-spy's or
// faulthandler's: "test_mm.py:33 in get_latency". nullopt: there is no dump.
std::optional<std::string> innermost_frame(std::string_view log);

// The same in what came to the file behind `offset`.
std::optional<std::string> innermost_frame_of(const std::filesystem::path& log,
                                              std::uintmax_t offset);

}  // namespace opgauge
