// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/ab/judgement.h"
#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/plan/plan.h"
#include "opgauge/session/run_session.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

constexpr int kFewestReplicates = 3;

// In what an arm differs from the common options.
struct AbArmOptions {
    std::map<std::string, std::string> environment;
    std::string corpus;    // empty: the common one
    std::string revision;  // of the common corpus; empty: as it lies there
};

struct AbOptions {
    std::vector<std::string> operators;
    AbArmOptions a;
    AbArmOptions b;
    PlanOptions plan;
    RunOptions run;  // its root holds the new folder, its run_dir is exactly that folder
    CompareOptions compare;
    int replicates = 10;
    std::uint64_t seed = 0;
    bool early = true;        // stop where every row is decided
    bool fork_server = true;  // children may be forked from a warm interpreter of their arm
};

// How an A/B ended. What was measured is in its folder whatever the status.
struct AbSummary {
    std::filesystem::path folder;
    std::string status;  // complete, stopped_early, interrupted, failed
    std::string reason;  // where interrupted or failed
    int signal = 0;
    std::size_t failed_runs = 0;           // neither passed nor skipped
    std::optional<AbJudgement> judgement;  // absent: too little was measured
};

// Both arms in turn, each replicate a fresh process and a run folder of its own, judged at the
// looks of ab_looks(). Errors mean that nothing was measured.
Result<AbSummary> run_ab(const AbOptions& options, const Environment& environment,
                         const Installation& installation, const Clock& clock,
                         RunObserver& observer);

}  // namespace opgauge
