// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <string_view>
#include <vector>

namespace opgauge {

// Reads any output of a vendor's tool that lists devices, by the command that printed it: the one
// entry for what people paste into reports and for tools too old for the form that discovery asks.
// Kind environment: the tool's own error, or a text that lists no devices.
Result<std::vector<Device>> parse_tool_output(std::string_view backend, std::string_view command,
                                              std::string_view text);

// The same for a paste: the backend follows from the program's name. A first line with a prompt
// ("$ tool -L") is the command where none is given. Kind usage: no command, or none that is known.
Result<Discovery> read_pasted_output(std::string_view command, std::string_view text);

}  // namespace opgauge
