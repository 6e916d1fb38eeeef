// SPDX-License-Identifier: Apache-2.0
// What the batch's files say while it runs, and where the lanes' time went.
#include "opgauge/batch/dispatcher.h"

#include <unistd.h>

#include <utility>

namespace opgauge {
namespace {

constexpr std::chrono::seconds kBetweenLive{1};

}  // namespace

void Dispatcher::on_tick() {
    if (unsaved_) save();
    save_live();
    std::vector<LaneView> views;
    for (const auto& lane : lanes_) views.push_back(lane.view);
    observer_.on_tick(batch_, views);
}

// What it was outside of an entry is the batch's; seconds since it turned to what it did.
double Dispatcher::spend(Lane& lane, std::optional<TimePart> next) {
    const auto now = clock_.now();
    const double seconds = std::chrono::duration<double>(now - lane.outside_since).count();
    if (lane.outside) batch_.outside[*lane.outside] += seconds;
    lane.outside = next;
    lane.outside_since = now;
    return seconds;
}

void Dispatcher::account() {
    for (auto& lane : lanes_) {
        if (lane.outside) spend(lane, lane.outside);
    }
    const auto now = clock_.now();
    batch_.lane_seconds +=
        static_cast<double>(lanes_.size()) * std::chrono::duration<double>(now - counted_).count();
    counted_ = now;
}

void Dispatcher::save() {
    unsaved_ = false;
    account();
    batch_.updated = utc_text(clock_.wall_time());
    const auto saved = folder_.save(batch_);
    if (saved || error_) return;
    error_ = Error{ErrorKind::environment, saved.error().message};
    observer_.on_note(error_->message + "; no more operators are begun");
}

void Dispatcher::save_live() {
    const auto now = clock_.now();
    if (now - live_at_ < kBetweenLive) return;
    live_at_ = now;
    Json lanes = Json::array();
    for (const auto& lane : lanes_) lanes.push_back(to_json(lane.view, now));
    std::string live = to_line(lanes);
    if (live == live_) return;
    live_ = std::move(live);
    folder_.save_live({{"schema_version", 1},
                       {"pid", ::getpid()},
                       {"updated", utc_text(clock_.wall_time())},
                       {"lanes", std::move(lanes)}});
}

}  // namespace opgauge
