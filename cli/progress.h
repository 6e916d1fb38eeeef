// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/report/status_line.h"
#include "opgauge/session/conversation.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

namespace opgauge::cli {

// Live progress of one run: one redrawn line on a terminal (operator, case k of n, elapsed,
// estimate), one plain line a finished case otherwise.
class Progress final : public RunObserver {
  public:
    Progress(std::FILE* stream, const Clock& clock);

    void on_phase(const std::string& text) override;
    void on_case_begin(const Row& row, std::optional<int> planned) override;
    void on_row(const Row& row) override;
    void on_tuning(const std::string& kernel) override;
    void on_shard(const ShardProgress& progress) override;
    void on_tick() override;
    void finish();

  private:
    std::string line() const;
    std::string shards_line() const;

    StatusLine status_;
    const Clock& clock_;
    std::chrono::steady_clock::time_point begin_;
    std::chrono::steady_clock::time_point first_case_;
    std::string phase_;
    std::string current_;
    std::string tuning_;  // the kernel whose configurations are being timed; empty: none
    int begun_ = 0;
    int finished_ = 0;
    std::optional<int> planned_;
    std::map<int, ShardProgress> shards_;                            // of a warm-up that goes on
    std::map<int, std::chrono::steady_clock::time_point> shown_at_;  // plain lines of each
};

}  // namespace opgauge::cli
