// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/case_timers.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {

CaseTimers::CaseTimers(std::string timer, std::string fallback, CaptureMemory memory)
    : timer_(std::move(timer)), fallback_(std::move(fallback)), memory_(std::move(memory)) {}

CaseTimer CaseTimers::choose(const std::string& case_id, const std::string& node) {
    if (timer_ != "graph") return {timer_, "", ""};
    if (node != node_) {
        node_ = node;
        failures_in_node_ = 0;
    }
    if (memory_.find(case_id) == nullptr && failures_in_node_ >= kEnoughFailures) {
        CaptureFailure assumed = last_;
        assumed.case_id = case_id;
        assumed.assumed = true;
        memory_.add(assumed);
    }
    const CaptureFailure* known = memory_.find(case_id);
    if (known == nullptr) return {timer_, "", ""};
    return {fallback_, known->kind,
            fmt::format("{}: {}{}", known->side, known->message,
                        known->assumed ? " (as the cases before it; not tried)" : "")};
}

void CaseTimers::failed(const CaptureFailure& failure, const std::string& node) {
    failures_in_node_ = node == node_ ? failures_in_node_ + 1 : 1;
    node_ = node;
    last_ = failure;
    memory_.add(failure);
}

void CaseTimers::captured(const std::string& case_id) {
    failures_in_node_ = 0;
    memory_.remove(case_id);
}

}  // namespace opgauge
