// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/corpus/provider.h"
#include "opgauge/measure/stopping_rule.h"
#include "opgauge/plan/plan.h"
#include "opgauge/session/host_locks.h"
#include "opgauge/session/python_probe.h"
#include "opgauge/tuning/replay.h"

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// Everything that goes into run_identity.json before the child starts.
struct IdentityInput {
    const Plan& plan;
    const CorpusVersion& corpus_version;
    const std::optional<PythonFacts>& python;  // nullopt: the native corpus needs none
    const std::optional<Replay>& replayed;
    const StoppingSettings& stopping;
    Measuring measuring;
    int device_lanes = 1;
    std::string no_section;  // why others are not kept from measuring; empty: they are
    const Environment& child_environment;
    std::vector<std::string> argv;
    std::string run_id;
    std::string created_utc;
    std::string tool_version;
};

// Fields that the machine does not have are null; "unknown" names each with its reason.
Json make_identity(const IdentityInput& input);

// Adds what the child reported of its device and software, and the caliber id.
void complete_identity(Json& identity, const Json& device_report, const std::string& timer);

}  // namespace opgauge
