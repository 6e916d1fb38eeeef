// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// The processor's model as the kernel names it, printable; nullopt where it does not say. The one
// place: planned device, host facts and the native child must print the same name.
std::optional<std::string> cpu_model();
// Out of the text of /proc/cpuinfo: "model name" on x86, "Model" on others.
std::optional<std::string> cpu_model_in(std::string_view cpuinfo);

}  // namespace opgauge
