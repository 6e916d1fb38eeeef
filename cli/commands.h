// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"

#include "cli/options.h"

namespace opgauge::cli {

// Each command prints its result and returns its exit code; an error is printed by main().
Result<int> devices_command(const DevicesOptions& options, const Environment& environment);
Result<int> plan_command(const PlanCommandOptions& options, const Environment& environment);
Result<int> corpus_command(const CorpusOptions& options, const Environment& environment);
Result<int> run_command(const RunCommandOptions& options, const Environment& environment);
Result<int> batch_command(const BatchCommandOptions& options, const Environment& environment);
Result<int> show_command(const ShowOptions& options);
Result<int> compare_command(const CompareCommandOptions& options);
Result<int> ab_command(const AbCommandOptions& options, const Environment& environment);
Result<int> report_command(const ReportOptions& options);
Result<int> verify_command(const VerifyOptions& options, const Environment& environment);
Result<int> history_command(const HistoryOptions& options, const Environment& environment);
Result<int> doctor_command(const DoctorOptions& options, const Environment& environment);
Result<int> tune_command(const TuneOptions& options);
Result<int> batch_task_command(const BatchTaskOptions& options, const Environment& environment);
Result<int> warm_shard_command(const WarmShardOptions& options, const Environment& environment);
Result<int> batch_lane_command(const BatchLaneOptions& options, const Environment& environment);

}  // namespace opgauge::cli
