// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/arm_runs.h"

#include "opgauge/plan/planner.h"

#include <utility>

namespace opgauge {
namespace {

// Two servers in one process: what is left of a run is ended, and neither server is part of that.
class BesideAnother final : public ChildSource {
  public:
    BesideAnother(ChildSource& own, const ChildSource* other) : own_(own), other_(other) {}

    Result<SpawnedProcess> start(const SpawnOptions& options) override {
        return own_.start(options);
    }
    std::vector<pid_t> own_processes() const override {
        std::vector<pid_t> processes = own_.own_processes();
        if (other_ == nullptr) return processes;
        const auto others = other_->own_processes();
        processes.insert(processes.end(), others.begin(), others.end());
        return processes;
    }

  private:
    ChildSource& own_;
    const ChildSource* other_;
};

std::string why_no_fork_server(const AbOptions& options, const Provider& provider) {
    if (!options.fork_server) return "--no-fork-server";
    return provider.name() == "native" ? "the native corpus needs none" : "";
}

}  // namespace

ArmRuns::ArmRuns(PlanOptions plan, Environment environment, const AbOptions& options,
                 const Installation& installation, const Clock& clock, RunObserver& observer)
    : options_(std::move(plan)),
      environment_(std::move(environment)),
      ab_(options),
      installation_(installation),
      clock_(clock),
      observer_(observer) {}

Result<const Plan*> ArmRuns::plan(const std::string& name) {
    if (const auto known = plans_.find(name); known != plans_.end()) return &known->second;
    const auto changed = changed_.find(name);
    PlanOptions asked = changed == changed_.end() ? options_ : changed->second;
    asked.request.operator_ = name;
    OPGAUGE_TRY_ASSIGN(Plan plan, make_plan(asked, environment_, installation_));
    if (!provider_) {
        const bool native = plan.corpus_name == "native";
        OPGAUGE_TRY_ASSIGN(provider_, open_corpus(native ? "native" : plan.corpus_root,
                                                  plan.command.argv.front(), installation_));
    }
    return &plans_.emplace(name, std::move(plan)).first->second;
}

void ArmRuns::replay(const std::string& name, const std::string& source,
                     std::vector<std::string> accept_scope) {
    PlanOptions changed = options_;
    changed.tuning.mode = "replay";
    changed.tuning.from = source;
    changed.tuning.allow_misses = true;
    for (auto& fact : accept_scope) changed.tuning.accept_scope.push_back(std::move(fact));
    changed_[name] = std::move(changed);
    plans_.erase(name);
}

ChildSource* ArmRuns::children(const Plan& plan) {
    if (!lane_) {
        lane_ = std::make_unique<LaneChildren>(
            why_no_fork_server(ab_, *provider_),
            [this](const std::string& text) { observer_.on_phase(text); });
    }
    source_ = lane_->source(plan, *provider_, python_, environment_);
    return source_;
}

Result<RunSummary> ArmRuns::run(const std::string& name, const std::filesystem::path& folder,
                                ArmRuns& other) {
    OPGAUGE_TRY_ASSIGN(const Plan* made, plan(name));
    RunOptions run = ab_.run;
    run.run_dir = folder;
    run.python = &python_;
    PlainChildren plain;
    ChildSource* own = children(*made);
    BesideAnother both(own == nullptr ? plain : *own, other.source_);
    run.source = &both;
    return run_plan(*made, *provider_, run, environment_, clock_, observer_);
}

}  // namespace opgauge
