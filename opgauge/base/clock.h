// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace opgauge {

// The two clocks, behind an interface so that tests can let time stand still.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual std::chrono::steady_clock::time_point now() const = 0;
    virtual std::chrono::system_clock::time_point wall_time() const = 0;
};

class SystemClock final : public Clock {
  public:
    std::chrono::steady_clock::time_point now() const override;
    std::chrono::system_clock::time_point wall_time() const override;
};

// "2026-12-01T14:05:09Z"
std::string utc_text(std::chrono::system_clock::time_point time);
// "20261201T140509Z": sorts by time and is a legal file name everywhere.
std::string utc_file_stamp(std::chrono::system_clock::time_point time);
// "850 ms", "12.3 s", "4 min 05 s", "2 h 03 min"
std::string duration_text(std::chrono::duration<double> duration);

}  // namespace opgauge
