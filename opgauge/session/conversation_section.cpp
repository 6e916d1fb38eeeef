// SPDX-License-Identifier: Apache-2.0
// When a side may be timed: one process of a host measures at a time. Between the sides of a case
// the section is free, since the second one's kernels are compiled and tuned there. And when a
// child may use a device that others share.
#include "opgauge/session/conversation.h"

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

// Shorter waits are no news.
constexpr std::chrono::seconds kToldAfter{1};

}  // namespace

std::optional<Json> Conversation::late_answer() {
    if (!waiting_ || (waiting_->side && !open_)) return std::nullopt;
    const auto side = waiting_->side;
    HostTurn* const wanted = side ? job_.section : job_.turn;
    if (wanted->try_enter()) {
        const bool told = waiting_->told;
        stop_waiting();
        if (told) observer_.on_phase("measuring");
        Json answer = side ? start_side(*side) : Json{{"type", "go"}};
        follow_answer(answer);
        return answer;
    }
    if (!waiting_->told && clock_.now() - waiting_->since > kToldAfter) {
        waiting_->told = true;
        observer_.on_phase(side ? "waiting for another measurement on this host"
                                : "waiting for another operator on this device");
    }
    return std::nullopt;
}

std::optional<Json> Conversation::answer_turn() {
    if (job_.turn == nullptr || job_.turn->try_enter()) return Json{{"type", "go"}};
    waiting_ = Waiting{std::nullopt, clock_.now()};
    return std::nullopt;
}

void Conversation::end_turn() {
    stop_waiting();
    if (job_.turn != nullptr) job_.turn->leave();
}

Json Conversation::start_side(Side side) {
    watch_.begin_side();
    cool_down_s_ = 0;
    count_neighbours();
    return next_step(side);
}

void Conversation::stop_waiting() {
    if (!waiting_) return;
    spend(waiting_->before);
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
