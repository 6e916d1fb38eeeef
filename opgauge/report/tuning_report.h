// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/record/result_reader.h"

#include <string>

namespace opgauge {

// For each kernel that a run tuned or replayed: its keys and the seconds that tuning took, then how
// much of a replay's source was used. Empty where no tuned kernel ran.
std::string tuning_text(const RecordedRun& run);

}  // namespace opgauge
