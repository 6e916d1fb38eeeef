// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/batch.h"

#include <string>

namespace opgauge {

// ops_status.csv: its head and one line an entry (docs/batch.md). Words of the corpus are shown
// with their control characters written out, and no cell is a formula.
std::string status_head();
std::string status_line_of(const BatchItem& item, const std::string& backend);

}  // namespace opgauge
