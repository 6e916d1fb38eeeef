// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/measure/conformance.h"

#include <string>

namespace opgauge {

// A line for each check with its value, its bounds and the verdict, and below them the floor.
std::string conformance_text(const Conformance& conformance);

}  // namespace opgauge
