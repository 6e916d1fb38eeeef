// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/device/telemetry.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace opgauge::testing {

// What the device tells until the test changes it.
struct TelemetryScript {
    std::optional<DeviceReading> reading = DeviceReading{};  // nullopt: it cannot be read
    std::optional<std::vector<DeviceProcess>> processes;     // nullopt: the library does not tell
    std::optional<HealthReading> health;

    void clock(double mhz, std::vector<std::string> reasons = {}) {
        reading->sm_clock_mhz = mhz;
        reading->throttle_reasons = std::move(reasons);
        reading->throttle_reasons_known = true;
    }
};

class ScriptedTelemetry final : public Telemetry {
  public:
    explicit ScriptedTelemetry(const TelemetryScript& script) : script_(script) {}

    Result<DeviceReading> read() override {
        if (!script_.reading) return fail(ErrorKind::environment, "GPU is lost");
        return *script_.reading;
    }
    Result<HealthReading> health() override {
        return script_.health ? Result<HealthReading>(*script_.health) : Telemetry::health();
    }
    Result<std::vector<DeviceProcess>> processes() override {
        if (!script_.processes) return fail(ErrorKind::refused, "not told");
        return *script_.processes;
    }

  private:
    const TelemetryScript& script_;
};

}  // namespace opgauge::testing
