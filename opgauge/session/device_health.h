// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/json.h"
#include "opgauge/device/telemetry.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// How a device is after an operator.
struct HealthReport {
    std::optional<bool> ok;             // nullopt: nothing tells; `unknown` says why
    std::vector<std::string> problems;  // it must not be measured on any more
    std::vector<std::string> warnings;  // it can, and a reader wants to know
    std::string unknown;
};
Json to_json(const HealthReport& report);

// Looks at one device between operators, while no child of ours is on it.
class DeviceHealth {
  public:
    static constexpr std::chrono::milliseconds kSettle{5'000};
    // Waits up to `settle` for the memory of a child that has ended. `lanes`: of a batch on this
    // device; above 1 its memory is never looked at, since the others' children use it.
    DeviceHealth(Result<std::unique_ptr<Telemetry>> telemetry, const Clock& clock,
                 std::chrono::milliseconds settle = kSettle, int lanes = 1);

    // Before an operator's child starts: what is compared with afterwards.
    void note_before();
    // After it has ended.
    HealthReport look();

  private:
    void look_at_reading(HealthReport& report);
    void look_at_memory(const HealthReading& now, HealthReport& report);
    void look_at_processes(HealthReport& report);
    bool returned(const HealthReading& health) const;
    Result<HealthReading> settled_health();

    Result<std::unique_ptr<Telemetry>> telemetry_;
    const Clock& clock_;
    std::chrono::milliseconds settle_;
    int lanes_;
    std::optional<HealthReading> before_;
};

}  // namespace opgauge
