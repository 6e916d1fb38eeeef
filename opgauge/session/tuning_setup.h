// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/plan/plan.h"
#include "opgauge/session/tuning_desk.h"
#include "opgauge/session/warmup_report.h"

#include <filesystem>
#include <optional>

namespace opgauge {

// The winners that a replay uses, read once; nullopt where nothing is replayed. Kind refused:
// none of them holds on this device, driver and environment, so no child need be started.
Result<std::optional<Replay>> open_source(const Plan& plan, const Environment& child);

// The desk of a run, whose tuning.db is made in `run_dir`.
Result<TuningDesk> open_desk(const Plan& plan, const Environment& child,
                             std::optional<Replay> source, const std::filesystem::path& run_dir);

// The identity's member "tuning", before the child starts and at the end of the run.
Json tuning_facts(const Plan& plan, const std::optional<Replay>& source);
void complete_tuning(Json& identity, const TuningDesk& desk);
// Its member "tuning.warmup".
void complete_warmup(Json& identity, const WarmupReport& report, const TuningDesk& desk);

}  // namespace opgauge
