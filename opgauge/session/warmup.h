// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/session/run_session.h"
#include "opgauge/session/tuning_desk.h"
#include "opgauge/session/warmup_report.h"
#include "opgauge/warmup/case_share.h"

#include <filesystem>
#include <optional>

namespace opgauge {

struct WarmupInput {
    const Plan& plan;
    const RunOptions& options;
    const Environment& environment;  // a child's, pinned to the measuring device
    std::filesystem::path run_dir;
    CaseCosts costs;
};

struct Warmup {
    WarmupReport report;
    std::optional<Stopped> interrupted;  // the run ends here; what was tuned is in merged.db
    std::optional<WarmedKeys> keys;      // without winners where no shard left a store
    CaseCosts costs;                     // of the cases that were tuned, in seconds
};

// What the warm-up of a run that is resumed found; nullopt where it did not end, and what it left
// is removed.
Result<std::optional<WarmedKeys>> earlier_warmup(const WarmupInput& input);

// Tunes the run's cases on the plan's shards at once, each a process of its own below
// RUN/warmup/, and merges their winners. Returns when none of these processes is left. What goes
// wrong in a shard is told in the report and left to the run; an error is one of the run's folder.
Result<Warmup> warm_up(const WarmupInput& input, const Clock& clock, RunObserver& observer);

}  // namespace opgauge
