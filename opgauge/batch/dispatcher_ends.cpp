// SPDX-License-Identifier: Apache-2.0
// How lanes end, and what is left of the entry that one was running.
#include "opgauge/batch/dispatcher.h"
#include "opgauge/batch/recover.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {
namespace {

constexpr int kMostCrashes = 3;             // of a device, in a row
constexpr std::chrono::seconds kToEnd{30};  // once it was told to

}  // namespace

std::optional<std::string> Dispatcher::wants_stop(std::size_t worker) {
    Lane& lane = lanes_[worker];
    const bool works = lane.item || lane.view.state == "starting";
    const auto quiet = clock_.now() - lane.heard;
    if (lane.fault.empty() && works && silence_.count() > 0 && quiet > silence_) {
        lane.silent = true;
        lane.fault = fmt::format("it said nothing for {} s", silence_.count());
    }
    if (lane.fault.empty() && lane.told_end && quiet > kToEnd) lane.fault = "it did not end";
    return lane.fault.empty() ? std::nullopt : std::optional(lane.fault);
}

void Dispatcher::on_interrupt(const Stopped& by) {
    interrupted_ = by;
    observer_.on_note(by.by + "; ending what runs");
}

bool Dispatcher::on_end(std::size_t worker, const Outcome& outcome) {
    Lane& lane = lanes_[worker];
    const bool as_told = lane.told_end && lane.fault.empty();
    lane.question.reset();
    lane.told_end = false;
    if (lane.item) lose(lane, outcome);
    lane.fault.clear();
    lane.silent = false;
    lane.view.state = lane.is_out() ? "out" : "ended";
    spend(lane, TimePart::idle);
    if (as_told || lane.is_out() || interrupted_ || error_) return false;
    if (++lane.crashes >= kMostCrashes) {
        take_out(lane.view.device,
                 fmt::format("its lane ended {} times in a row, the last time it {}; see {}",
                             kMostCrashes, to_text(outcome),
                             fmt::format("{}/{}.log", BatchFiles::kLanes, worker)));
        return false;
    }
    lane.view.state = work_left() ? "starting" : "ended";
    if (work_left()) spend(lane, TimePart::start);
    lane.heard = clock_.now();
    lane.messages = 0;
    return work_left();
}

// The lane is gone in the middle of an entry. Its run may have ended all the same.
void Dispatcher::lose(Lane& lane, const Outcome& outcome) {
    const BatchItem& item = batch_.items[*lane.item];
    if (auto ended = ended_run(batch_.folder / item.run_dir)) {
        return finish(lane, std::move(*ended));
    }
    EntryResult result;
    result.status = interrupted_ ? "interrupted" : lane.silent ? "timeout" : "crashed";
    result.reason = interrupted_ ? interrupted_->by : fmt::format("the lane {}", to_text(outcome));
    result.exit_code = 1;
    result.rows = rows_in(batch_.folder / item.run_dir);
    result.seconds = std::chrono::duration<double>(clock_.now() - lane.view.since).count();
    result.time.emplace();
    (*result.time)[TimePart::lost] = result.seconds;
    if (const auto* exited = std::get_if<Exited>(&outcome)) result.exit = exited->code;
    if (const auto* killed = std::get_if<Signaled>(&outcome)) result.signal = killed->signal;
    finish(lane, std::move(result));
}

}  // namespace opgauge
