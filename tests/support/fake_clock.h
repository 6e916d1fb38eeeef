// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"

namespace opgauge::testing {

// A clock that stands still until it is moved.
class FakeClock final : public Clock {
  public:
    std::chrono::steady_clock::time_point now() const override { return now_; }
    std::chrono::system_clock::time_point wall_time() const override { return wall_; }
    void advance(std::chrono::nanoseconds by) {
        now_ += by;
        wall_ += std::chrono::duration_cast<std::chrono::system_clock::duration>(by);
    }

  private:
    std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
    std::chrono::system_clock::time_point wall_{std::chrono::seconds(1'796'133'909)};
};

}  // namespace opgauge::testing
