// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/replacement.h"

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

bool Replacement::take_wanted() {
    return std::exchange(wanted_, false);
}

Json Replacement::skip_nodes() const {
    return done_;
}

bool Replacement::is_done(const std::string& node, int index) const {
    return node == node_ && index < first_index_;
}

}  // namespace opgauge
