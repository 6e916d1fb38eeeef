// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/ab/ab.h"
#include "opgauge/session/lane_children.h"
#include "opgauge/session/python_probe.h"

#include <memory>
#include <string>

namespace opgauge {

// Makes the runs of one arm, all in that arm's environment and corpus. Its children are forked from
// an interpreter of its own, since some variables are read at import.
class ArmRuns {
  public:
    ArmRuns(PlanOptions plan, Environment environment, const AbOptions& options,
            const Installation& installation, const Clock& clock, RunObserver& observer);

    // The plan of one operator as the options are now. Plans are made once for each operator.
    Result<const Plan*> plan(const std::string& name);
    // Further plans replay this run's winners.
    void replay(const std::string& name, const std::string& source,
                std::vector<std::string> accept_scope);
    // Later plans are for this device.
    void pin(const std::string& device) { options_.devices = device; }
    // `other`: its interpreter outlives this run.
    Result<RunSummary> run(const std::string& name, const std::filesystem::path& folder,
                           ArmRuns& other);

  private:
    ChildSource* children(const Plan& plan);

    PlanOptions options_;
    Environment environment_;
    const AbOptions& ab_;
    const Installation& installation_;
    const Clock& clock_;
    RunObserver& observer_;
    PythonProbe python_;
    std::unique_ptr<Provider> provider_;
    std::map<std::string, PlanOptions> changed_;
    std::map<std::string, Plan> plans_;
    std::unique_ptr<LaneChildren> lane_;
    ChildSource* source_ = nullptr;
};

}  // namespace opgauge
