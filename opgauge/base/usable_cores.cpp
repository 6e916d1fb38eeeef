// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/usable_cores.h"

#include <sched.h>

namespace opgauge {

std::optional<int> usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
    return CPU_COUNT(&set);
}

}  // namespace opgauge
