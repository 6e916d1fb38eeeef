// SPDX-License-Identifier: Apache-2.0
#include "cli/batch_progress.h"

#include "opgauge/base/text.h"
#include "opgauge/report/batch_report.h"

#include <fmt/format.h>

namespace opgauge::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenDrawings{200};

}  // namespace

void BatchProgress::on_end(const BatchItem& item) {
    ++ended_;
    if (status_.redraws() && is_good(item.result)) return;
    status_.print(
        fmt::format("{}  device {}  {}", ended_, printable(item.lane, 60), entry_text(item)));
}

void BatchProgress::on_note(const std::string& text) {
    status_.print("opgauge: " + printable(text, 1'000));
}

void BatchProgress::on_tick(const Batch& batch, const std::vector<LaneView>& lanes) {
    const auto now = clock_.now();
    if (!status_.redraws() || now - drawn_ < kBetweenDrawings) return;
    drawn_ = now;
    std::vector<std::string> lines;
    for (const auto& lane : lanes) lines.push_back(lane_text(lane, now));
    lines.push_back(totals_text(batch, lanes.size()));
    status_.update(std::move(lines));
}

}  // namespace opgauge::cli
