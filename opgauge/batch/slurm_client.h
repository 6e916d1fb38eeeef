// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/tool.h"
#include "opgauge/batch/executor.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// What a user says of the job, by sbatch's own names; empty or 0: Slurm's default.
struct SlurmOptions {
    std::string partition;
    std::string gres;  // "gpu:a100:1"
    std::string account;
    std::string qos;
    std::string constraint;
    int minutes = 0;                // of a task
    int at_once = 0;                // tasks that run at one time, at most
    std::vector<std::string> more;  // handed to sbatch verbatim
};

// How long a command and a controller may take.
struct SlurmPatience {
    std::chrono::milliseconds command{60'000};
    // A submit that was not answered may have been accepted all the same: the job is looked for
    // until a look-up is answered, and twice, since the answer may overtake the submit.
    std::chrono::milliseconds lost_submit{300'000};
    std::chrono::milliseconds between{2'000};
};

// The environment for Slurm's commands and, since they export it, for the job: without variables
// that Slurm reads as options and without visibility variables of the submitter's, so that those
// that a task finds are its scheduler's. SLURM_CONF stays.
Environment slurm_environment(const Environment& environment);

// sbatch's words for a job; `script` is the last one.
std::vector<std::string> sbatch_words(const SlurmOptions& options, const JobRequest& request);

// Slurm through its commands.
class SlurmExecutor final : public Executor {
  public:
    SlurmExecutor(SlurmOptions options, const Environment& environment, SlurmPatience patience);

    std::string_view name() const override { return "slurm"; }
    Result<int> task_limit() override;
    Result<Job> submit(const JobRequest& request) override;
    Result<std::optional<std::string>> find(const std::string& name) override;
    Result<std::vector<TaskReport>> poll(const Job& job) override;
    Result<void> cancel(const Job& job) override;

  private:
    Result<std::string> call(const std::vector<std::string>& words) const;
    Result<std::optional<std::string>> find_lost(const std::string& name);
    void ask_accounts(const Job& job, std::map<int, TaskReport>& last) const;

    SlurmOptions options_;
    Environment environment_;
    SlurmPatience patience_;
    std::map<std::string, std::map<int, TaskReport>> last_;  // job id -> task -> last report
};

}  // namespace opgauge
