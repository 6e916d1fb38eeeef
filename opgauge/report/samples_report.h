// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/record/row.h"

#include <string>

namespace opgauge {

// The samples of one case over time, drawn for a terminal: one picture a side with the same scale,
// time from left to right, and the side's summary under it.
std::string samples_text(const Row& row, const RecordedSamples& samples);
Json samples_json(const Row& row, const RecordedSamples& samples);

}  // namespace opgauge
