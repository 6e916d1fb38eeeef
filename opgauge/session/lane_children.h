// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/corpus/provider.h"
#include "opgauge/plan/plan.h"
#include "opgauge/run/fork_server.h"
#include "opgauge/session/python_probe.h"

#include <functional>
#include <optional>
#include <string>

namespace opgauge {

// Where a lane's children come from: a fork server, made with the first plan, or null: each is a
// process of its own.
class LaneChildren {
  public:
    using Tell = std::function<void(const std::string& phase)>;
    // `why_none` not empty: there is to be no server, for this reason.
    LaneChildren(std::string why_none, Tell tell)
        : why_none_(std::move(why_none)), tell_(std::move(tell)) {}

    // What `ready` says: true, or why there is no server. Before the first child nobody knows yet.
    Json fork_server() const;
    // For a run of `plan`. `environment` is the lane's.
    ChildSource* source(const Plan& plan, const Provider& provider, PythonProbe& python,
                        const Environment& environment);

  private:
    Result<ForkServerSettings> settings(const Plan& plan, const Provider& provider,
                                        PythonProbe& python, const Environment& environment) const;

    std::string why_none_;
    Tell tell_;
    std::optional<ForkServer> server_;
};

}  // namespace opgauge
