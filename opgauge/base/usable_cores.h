// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace opgauge {

// How many cores this process may use (its affinity mask); nullopt where the kernel does not say.
std::optional<int> usable_cores();

}  // namespace opgauge
