// SPDX-License-Identifier: Apache-2.0
// How a child ends, what its end costs and whether another one takes its place.
#include "opgauge/session/conversation.h"
#include "opgauge/session/memory_wait.h"

#include <algorithm>

namespace opgauge {
namespace {

constexpr int kStopped = 87;  // docs/child_protocol.md
constexpr int kProtocolError = 88;
constexpr int kUntrusted = 89;

bool exited_with(const Outcome& outcome, int code) {
    const auto* exited = std::get_if<Exited>(&outcome);
    return exited != nullptr && exited->code == code;
}

bool died(const Outcome& outcome) {
    return std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signaled>(outcome);
}

bool stalled(const Outcome& outcome) {
    const auto* late = std::get_if<TimedOut>(&outcome);
    return late != nullptr && late->kind == TimedOut::Limit::stall;
}

// Nobody ended the run, and the device is free for another child.
bool may_go_on(const Outcome& outcome) {
    return died(outcome) || (stalled(outcome) && std::get<TimedOut>(outcome).gone);
}

}  // namespace

void Conversation::on_stop(const Outcome& /*reason*/) {
    stopping_ = true;
}

bool Conversation::child_ended(const std::string& why, const Outcome& outcome) {
    stopping_ = false;
    leave_section();
    end_turn();
    spend(TimePart::end);
    if (open_ && !open_->capturing.empty() && died(outcome)) {
        give_up_capture(open_->capturing, "capture_crashed", why);
    }
    observer_.on_tuning("");
    const bool may_measure =
        !result_.device.is_null() && !result_.guard_refusal && !result_.replay_refusal;
    // One that died of checking its timers is replaced by one that is not asked to.
    if (may_measure && job_.timer_checks.child_ended(why)) {
        replacement_.go_on_behind_test();
    } else if (may_measure && replaces_lost(why, outcome)) {
        result_.gave_up = replacement_.gave_up();
    }
    if (open_) {
        open_->row.status = RowStatus::failed;
        open_->row.reason = result_.replay_refusal.value_or(why);
        open_->row.error = {{"kind", lost_kind(outcome)}, {"message", why}};
        close_case();
    }
    current_node_.clear();
    const bool others = result_.collected && result_.tests.size() < result_.collected->size();
    const bool wanted = replacement_.take_wanted();
    if (!others) result_.gave_up.reset();
    return wanted && others && may_go_on(outcome);
}

// Whether the child was lost; then another one goes on behind what it was doing.
bool Conversation::replaces_lost(const std::string& why, const Outcome& outcome) {
    const bool untrusted = exited_with(outcome, kUntrusted);
    const bool obeyed = exited_with(outcome, kStopped) || exited_with(outcome, kProtocolError);
    const bool at_end = result_.said_bye && !untrusted;
    if (replacement_.is_wanted() || obeyed || at_end || !may_go_on(outcome)) return false;
    // A shard of a warm-up that crashes leaves what it did not do to the run.
    if (job_.tune_only && !untrusted) return false;
    const bool in_test = !current_node_.empty();
    if (open_ || (untrusted && in_test)) {
        replacement_.lost_in_case(current_node_, last_case_);
        return true;
    }
    if (untrusted) {
        replacement_.lost_between_cases();
        return true;
    }
    const bool exited = std::holds_alternative<Exited>(outcome);
    if (!result_.collected || (exited && !in_test)) return false;
    // No case can be named that the next child could leave out, so the whole test is.
    result_.lost.push_back({lost_kind(outcome), in_test ? current_node_ : "the corpus",
                            why + (in_test ? ", outside any case" : ", between two tests"), false});
    if (in_test) {
        replacement_.test_finished(current_node_);
        result_.tests.push_back({current_node_, "error", why, 0, false, {}});
    }
    replacement_.lost_between_cases();
    return true;
}

void Conversation::await_memory() {
    if (std::exchange(lost_memory_, false)) {
        observer_.on_phase("waiting for the device's memory");
        if (auto still_used = wait_for_memory(watch_)) {
            result_.log.push_back(std::move(*still_used));
        }
    }
    spend(TimePart::start);
}

void Conversation::count(const Row& row) {
    switch (row.status) {
        case RowStatus::ok:
            ++result_.rows_ok;
            break;
        case RowStatus::failed:
            ++result_.rows_failed;
            break;
        case RowStatus::invalid:
            ++result_.rows_invalid;
            break;
        case RowStatus::skipped:
            ++result_.rows_skipped;
            break;
    }
    if (!row.flags.empty()) ++result_.rows_flagged;
    auto lost = lost_case(row);
    if (!lost || job_.tune_only) return;
    lost_memory_ = lost->kind == LostKind::kOom;
    result_.lost.push_back(std::move(*lost));
}

void Conversation::keep_earlier(const KeptRun& kept) {
    for (const auto& row : kept.rows) {
        count(row);
        rows_begun_ = std::max(rows_begun_, row.index);
    }
    for (const auto& test : kept.tests) {
        replacement_.test_finished(test.node);
        result_.tests.push_back(test);
    }
    lost_memory_ = false;
}

}  // namespace opgauge
