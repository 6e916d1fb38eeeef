// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/record/time_parts.h"

#include <chrono>

namespace opgauge {

// What the wall time goes to, while it goes: it is in one part at a time, so that all parts sum to
// what the clock says.
class TimeAccount {
  public:
    // `clock` outlives it.
    TimeAccount(const Clock& clock, TimePart part)
        : clock_(&clock), part_(part), since_(clock.now()) {}

    TimePart part() const { return part_; }
    // From now on.
    void turn_to(TimePart part);
    // Of what has gone by since it turned to its part, or was last told, so much went to others:
    // somebody who saw it from nearer says so. Of more than there was, each gets its share.
    void take(const TimeParts& nearer);
    // Until now.
    TimeParts parts() const;

  private:
    void settle();

    const Clock* clock_;
    TimePart part_;
    std::chrono::steady_clock::time_point since_;
    TimeParts parts_;
    double untold_ = 0;  // of the part, since take() could last take from it
};

}  // namespace opgauge
