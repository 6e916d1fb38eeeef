// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/batch/batch.h"
#include "opgauge/batch/lane.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// "12 passed, 1 failed, 3 waiting": what is good first, then by name.
std::string counts_text(const Batch& batch);
// One line on an entry that ended: name, status, seconds, rows, and the reason where not passed.
std::string entry_text(const BatchItem& item);
// What did not pass, with reason and folder, and the totals: the end of a batch and its status.
std::string batch_text(const Batch& batch);
// "device 0  mm  case 3 of 12  20.1 cases/min  1 min 05 s"
std::string lane_text(const LaneView& lane, std::chrono::steady_clock::time_point now);
// The same of a lane in live.json.
std::string lane_text(const Json& lane);
// Totals and when it will end.
std::string totals_text(const Batch& batch, std::size_t lanes);

}  // namespace opgauge
