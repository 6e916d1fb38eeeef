// SPDX-License-Identifier: Apache-2.0
// When a side may be timed: one process of a host measures at a time. Between the sides of a case
// the section is free, since the second one's kernels are compiled and tuned there.
#include "opgauge/session/conversation.h"

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

// Shorter waits are no news.
constexpr std::chrono::seconds kToldAfter{1};

}  // namespace

std::optional<Json> Conversation::late_answer() {
    if (!waiting_ || !open_) return std::nullopt;
    if (job_.section->try_enter()) {
        const WaitingSide waiting = *waiting_;
        stop_waiting();
        if (waiting.told) observer_.on_phase("measuring");
        return start_side(waiting.side);
    }
    if (!waiting_->told && clock_.now() - waiting_->since > kToldAfter) {
        waiting_->told = true;
        observer_.on_phase("waiting for another measurement on this host");
    }
    return std::nullopt;
}

Json Conversation::start_side(Side side) {
    watch_.begin_side();
    cool_down_s_ = 0;
    count_neighbours();
    return next_step(side);
}

void Conversation::stop_waiting() {
    if (!waiting_) return;
    const auto time = clock_.now() - std::exchange(waiting_, {})->since;
    waited_ += time;
    if (open_) open_->waited_s += std::chrono::duration<double>(time).count();
}

void Conversation::leave_section() {
    stop_waiting();
    if (job_.section != nullptr) job_.section->leave();
}

void Conversation::count_neighbours() {
    if (job_.section == nullptr || !open_) return;
    open_->neighbours = std::max(open_->neighbours, job_.section->neighbours());
}

}  // namespace opgauge
