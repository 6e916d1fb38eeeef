// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/record/row.h"

#include <string>

namespace opgauge {

// "mm float16 384x384", short enough for a progress line.
std::string case_name(const Row& row);

}  // namespace opgauge
