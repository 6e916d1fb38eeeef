// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// How long each policy has held the clocks down since the driver started counting, in nanoseconds.
// Only differences of two readings mean anything.
struct ViolationCounters {
    std::optional<std::uint64_t> power_ns;
    std::optional<std::uint64_t> thermal_ns;
    std::optional<std::uint64_t> board_limit_ns;
    std::optional<std::uint64_t> reliability_ns;
};

// One device at one moment; what the library does not tell is nullopt, never 0.
struct DeviceReading {
    std::optional<double> sm_clock_mhz;
    std::optional<double> memory_clock_mhz;
    std::optional<double> max_sm_clock_mhz;
    std::optional<double> power_watts;
    std::optional<double> temperature_celsius;
    // What holds the clocks down now: sw_power_cap, hw_slowdown, sync_boost, sw_thermal,
    // hw_thermal, hw_power_brake. Being idle and clocks that somebody set are no reasons.
    std::vector<std::string> throttle_reasons;
    bool throttle_reasons_known = false;  // false: an empty list says nothing
};

// What tells a sick device from a well one; unknown is nullopt. Counters since the driver started:
// only differences of two readings mean anything.
struct HealthReading {
    std::optional<std::uint64_t> uncorrected_errors;  // of its memory
    std::optional<bool> repair_failed;   // of its memory: nothing is left to repair with
    std::optional<bool> repair_pending;  // of its memory, until it is reset
    std::optional<std::uint64_t> memory_used_bytes;
};

// Reads one device again and again. The parent owns it for the time of a run. The library stays
// loaded while it lives.
class Telemetry {
  public:
    virtual ~Telemetry() = default;

    // Cheap enough to be called every few milliseconds while a burst runs (some 10 us on an H200).
    // Kind environment: the device is lost or answers nothing.
    virtual Result<DeviceReading> read() = 0;

    // Takes milliseconds (4 on an H200). nullopt: the library counts nothing.
    virtual std::optional<ViolationCounters> violations() { return std::nullopt; }

    // Memory that nobody uses, in bytes. nullopt: the library does not tell.
    virtual std::optional<std::uint64_t> free_memory() { return std::nullopt; }

    // Asked between operators; may take milliseconds. Kinds: refused (the library tells nothing of
    // it), environment (the device is lost or answers nothing).
    virtual Result<HealthReading> health();

    // Other processes on the device, this one left out. Kind refused: the library does not tell.
    virtual Result<std::vector<DeviceProcess>> processes() = 0;
};

}  // namespace opgauge
