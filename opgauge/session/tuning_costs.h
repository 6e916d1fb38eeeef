// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/plan/plan.h"
#include "opgauge/warmup/case_share.h"

#include <filesystem>

namespace opgauge {

// Where the seconds are kept that tuning the cases of exactly this plan took the last time, in the
// cache folder: a list that one warm-up writes is the list of cases that the next one shares out.
std::filesystem::path tuning_costs_file(const Plan& plan, const Environment& environment);

// Empty where there is no such file, or none that can be read: the cases are then shared by size.
CaseCosts read_tuning_costs(const std::filesystem::path& file);
// A cache that cannot be written costs the next warm-up its balance, and this run nothing.
void write_tuning_costs(const std::filesystem::path& file, const CaseCosts& costs);

}  // namespace opgauge
