// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/backend.h"
#include "opgauge/plan/plan.h"
#include "opgauge/plan/tuning_decision.h"

namespace opgauge {

// --warmup-devices, --share-devices, --confirm, --overlap-keys, PARALLEL_WARMUP_GPUS. The shards
// take devices of the caller's set, in its order; `devices` is --devices, and empty stands for all
// that the caller's mask shows. Needs `plan.discovery` and `plan.tune`. Kinds: usage (no number, an
// option without a warm-up), refused (more shards than devices, devices of several models, nothing
// that is tuned).
Result<WarmupPlan> decide_warmup(const WarmupOptions& options, const std::string& devices,
                                 const Plan& plan, CorpusTuning corpus, const Backend& backend,
                                 const Environment& environment);

}  // namespace opgauge
