// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/device/telemetry.h"
#include "opgauge/measure/samples.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

enum class Heat {
    burst,      // short bursts on a card that may rest: what a kernel can do
    sustained,  // a card that has been working: what a long job gets
};

// What is to be done with the burst that has just ended.
struct BurstVerdict {
    bool keep = true;
    double cool_down_s = 0;  // leave the device idle before the next one
};

// Watches one device while a child measures on it: clocks and throttle reasons during each burst,
// other processes around each case. Decides nothing about the samples' number. Without telemetry
// it keeps everything and knows nothing.
class DeviceWatch {
  public:
    // `lanes`: of a batch on this device; above 1, this process is one of them, and what its parent
    // has started is no other.
    DeviceWatch(std::unique_ptr<Telemetry> telemetry, Heat heat, const Clock& clock, int lanes = 1);

    // Before the child starts: who is on the device already, and how much memory is free.
    void note_neighbours();
    // Bytes; nullopt: the library does not tell.
    std::optional<std::uint64_t> free_memory_before() const { return free_memory_before_; }
    std::optional<std::uint64_t> free_memory();

    void begin_side();
    void begin_burst();
    // While a burst runs, every few milliseconds.
    void tick();
    // The burst has ended; what was seen goes to `burst`.
    BurstVerdict end_burst(Burst& burst);
    bool in_burst() const { return in_burst_; }

    // Why the side's kept samples are slowed down: "sw_power_cap@1200MHz"; empty: they are not.
    std::vector<std::string> throttled() const { return throttled_; }

    // Processes on the device that are neither `child` nor its descendants; once per case.
    // nullopt: the library does not tell.
    std::optional<std::vector<DeviceProcess>> others(long long child);

  private:
    bool slowed_down(const Burst& burst) const;
    void add(const DeviceReading& reading);

    std::unique_ptr<Telemetry> telemetry_;
    Heat heat_;
    const Clock& clock_;
    int lanes_;
    bool in_burst_ = false;
    Burst seen_;
    std::vector<double> clocks_;            // of the running burst
    std::optional<double> full_clock_mhz_;  // the library's own, else the highest seen
    std::optional<std::uint64_t> free_memory_before_;
    std::vector<long long> neighbours_;  // on the device before the child was
    std::chrono::steady_clock::time_point side_begin_;
    int cool_downs_of_side_ = 0;
    int vain_cool_downs_ = 0;  // in a row: the card does not recover
    bool cooled_ = false;
    std::vector<std::string> throttled_;
};

}  // namespace opgauge
