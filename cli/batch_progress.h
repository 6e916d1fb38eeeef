// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/batch/local_executor.h"
#include "opgauge/report/status_block.h"

#include <cstdio>
#include <string>
#include <vector>

namespace opgauge::cli {

// Live progress of a batch: on a terminal a redrawn line a device and one of totals, with what
// failed above them; else one plain line an operator that ended.
class BatchProgress final : public BatchObserver {
  public:
    BatchProgress(std::FILE* stream, const Clock& clock) : status_(stream), clock_(clock) {}

    void on_end(const BatchItem& item) override;
    void on_note(const std::string& text) override;
    void on_tick(const Batch& batch, const std::vector<LaneView>& lanes) override;
    void finish() { status_.clear(); }

  private:
    StatusBlock status_;
    const Clock& clock_;
    int ended_ = 0;
    std::chrono::steady_clock::time_point drawn_;
};

}  // namespace opgauge::cli
