// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/device/device.h"

#include <string>
#include <vector>

namespace opgauge {

// Asks the named backends all at once, each in a thread of its own: the slowest one is the cost.
// The result has the order of `names`; an unknown name is a broken invariant.
std::vector<Discovery> discover_all(const std::vector<std::string>& names,
                                    const Environment& environment);

}  // namespace opgauge
