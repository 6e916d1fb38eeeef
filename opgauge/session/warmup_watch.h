// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/run/workers.h"
#include "opgauge/session/conversation.h"
#include "opgauge/session/warmup_report.h"
#include "opgauge/warmup/case_share.h"

#include <map>
#include <string>
#include <vector>

namespace opgauge {

// Follows what the shards of a warm-up tell: progress for the observer, which cases there are and
// which were tuned.
class WarmupWatch final : public WorkersHandler {
  public:
    // `devices`: one token a shard. `expected`: how many cases there will be; 0: unknown.
    WarmupWatch(const std::vector<std::string>& devices, std::size_t expected, const Clock& clock,
                RunObserver& observer);

    void on_message(std::size_t worker, const Json& message) override;
    void on_tick() override { observer_.on_tick(); }

    // After the end; `outcomes` of the processes.
    std::vector<ShardEnd> shards(const std::vector<Outcome>& outcomes) const;
    // Cases that no shard has tuned, each with the reason; `ends` is what shards() returned.
    std::vector<NotWarmed> not_warmed(const std::vector<ShardEnd>& ends) const;
    const CaseCosts& costs() const { return costs_; }

  private:
    struct KnownCase {
        std::string name;
        int owner = 0;
        bool warmed = false;
        std::string reason;
    };
    struct Shard {
        ShardEnd end;
        bool told_end = false;
        ShardProgress progress;
        std::map<std::string, int> planned;  // cases by test
    };

    void tell(Shard& shard);
    void take_planned(Shard& shard, const Json& message);
    void take_case(int worker, Shard& shard, const Json& message);

    const Clock& clock_;
    RunObserver& observer_;
    std::chrono::steady_clock::time_point begin_;
    std::size_t expected_;
    std::vector<Shard> shards_;
    std::vector<std::string> order_;  // ids of the cases, as they were announced
    std::map<std::string, KnownCase> cases_;
    CaseCosts costs_;
};

}  // namespace opgauge
