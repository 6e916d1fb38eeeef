// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/batch.h"
#include "opgauge/plan/plan.h"

#include "cli/options.h"

#include <string>
#include <vector>

namespace opgauge::cli {

// What the ways to run a batch share (batch_command.cpp).
std::vector<std::string> batch_lane_options(const BatchCommandOptions& options);
Result<std::vector<BatchEntry>> selected_entries(const BatchCommandOptions& options,
                                                 const PlanOptions& plan,
                                                 const Environment& environment);
void report_batch(const Batch& batch, const BatchCommandOptions& options);

// `batch status` (batch_status.cpp).
Result<int> batch_status_command(const BatchCommandOptions& options);

// `batch --executor slurm`, and going on with such a batch (batch_slurm.cpp).
Result<int> slurm_batch_command(const BatchCommandOptions& options, const Environment& environment);

}  // namespace opgauge::cli
