// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/plan/plan.h"

namespace opgauge {

struct TuningDecision {
    Decision mode;  // "record", "replay" or "off"
    ReplayPlan replay;
};

// What a corpus has for tuning.
enum class CorpusTuning {
    yes,      // its tuned configurations are recorded by default
    on_call,  // only where it is asked for: scripted children
    none,
};

// --tune, --from, --allow-misses, --accept-scope, REPLAY_FROM. A source that is no tuning store is
// told here. Kinds: usage (unknown, options that contradict each other, no store), refused (the
// corpus does not tune).
Result<TuningDecision> decide_tuning(const TuningOptions& options, const Environment& environment,
                                     CorpusTuning corpus);

}  // namespace opgauge
