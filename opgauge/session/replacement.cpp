// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/replacement.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {

void Replacement::test_finished(const std::string& node) {
    done_.push_back(node);
}

void Replacement::repeat_case(const std::string& node, int index) {
    node_ = node;
    first_index_ = index;
    wanted_ = true;
}

void Replacement::lost_in_case(const std::string& node, int index) {
    node_ = node;
    first_index_ = index + 1;
    lost_between_cases();
}

void Replacement::lost_between_cases() {
    ++lost_;
    ++lost_in_a_row_;
    if (lost_in_a_row_ >= kMostLostInARow) {
        gave_up_ = fmt::format("{} children in a row finished no case", lost_in_a_row_);
    } else if (lost_ > kMostLost) {
        gave_up_ = fmt::format("{} children were lost", lost_);
    }
    wanted_ = true;
}

bool Replacement::take_wanted() {
    return std::exchange(wanted_, false) && !gave_up_;
}

Json Replacement::skip_nodes() const {
    return done_;
}

bool Replacement::is_done(const std::string& node, int index) const {
    return node == node_ && index < first_index_;
}

}  // namespace opgauge
