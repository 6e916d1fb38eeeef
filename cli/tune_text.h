// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/tuning/merge.h"

#include <string>
#include <vector>

namespace opgauge::cli {

// How `opgauge tune` shows values of a store.
Json tuned_json(const TunedConfig& tuned);
std::string tuned_text(const std::vector<TunedConfig>& all);
Json merge_json(const MergeReport& report);
std::string merge_text(const MergeReport& report);
std::string milliseconds(double value);

}  // namespace opgauge::cli
