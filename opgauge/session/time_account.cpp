// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/time_account.h"

#include <algorithm>

namespace opgauge {

void TimeAccount::settle() {
    const auto now = clock_->now();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    parts_[part_] += seconds;
    untold_ += seconds;
    since_ = now;
}

void TimeAccount::turn_to(TimePart part) {
    settle();
    if (part != part_) untold_ = 0;
    part_ = part;
}

void TimeAccount::take(const TimeParts& nearer) {
    settle();
    const double sum = nearer.sum();
    if (sum <= 0) return;
    const double taken = std::min(sum, untold_);
    parts_[part_] -= taken;
    untold_ = 0;
    for (int i = 0; i < static_cast<int>(TimePart::count_); ++i) {
        const auto part = static_cast<TimePart>(i);
        parts_[part] += nearer[part] * taken / sum;
    }
}

TimeParts TimeAccount::parts() const {
    TimeAccount copy = *this;
    copy.settle();
    return copy.parts_;
}

}  // namespace opgauge
