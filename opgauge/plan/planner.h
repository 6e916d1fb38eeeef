// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/plan/decisions.h"
#include "opgauge/plan/plan.h"

#include <memory>
#include <optional>
#include <vector>

namespace opgauge {

// Makes plans for one operator after the other of a corpus on a device. What is the same for all is
// found out once, when it is first needed: the corpus's nodes, its shapes, the backend's devices. A
// plan is the one that make_plan() makes of the same options and request.
class Planner {
  public:
    // Opens the corpus. Kinds as for make_plan.
    static Result<Planner> open(PlanOptions options, Environment environment,
                                const Installation& installation);

    // `request` takes the place of the options' own.
    Result<Plan> plan(const NodeRequest& request);

    Provider& provider() { return *provider_; }
    // The next plan asks the devices again.
    void forget_devices();

  private:
    Planner() = default;
    Result<void> add_corpus(Plan& plan, const NodeRequest& request);
    Result<void> add_backend(Plan& plan);
    Result<void> add_measuring(Plan& plan);
    Result<void> add_device(Plan& plan);

    PlanOptions options_;
    Environment environment_;
    std::unique_ptr<Provider> provider_;
    std::optional<ShapesDecision> shapes_;
    std::optional<BackendChoice> choice_;
    std::vector<SelectedDevice> selected_;  // the first one is complete; empty: not asked yet
};

// Options and the caller's environment (ZL_BACKEND, OP, OP_FILE, TEST_NODE, SHAPE_MODE, OPGAUGE_*)
// to a plan. Options win over variables. Kinds: usage (unknown operator, backend, device, timer,
// dtype; unreadable shapes file, with line and column), refused (a timer that the backend lacks),
// environment (no device, no corpus).
Result<Plan> make_plan(const PlanOptions& options, const Environment& environment,
                       const Installation& installation);

}  // namespace opgauge
