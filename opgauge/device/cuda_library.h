// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"
#include "opgauge/device/telemetry.h"

#include <memory>

namespace opgauge {

// Asks NVML. True where it answered, with devices or without; otherwise `found.reasons` says why
// not.
bool ask_nvml(const Environment& environment, Discovery& found);

// Adds the power limit, which takes too long to be asked of every device.
void complete_by_nvml(const Environment& environment, Device& device);

// Kind environment: no NVML, or the device is not there.
Result<std::unique_ptr<Telemetry>> open_nvml_telemetry(const Environment& environment,
                                                       const Device& device);

}  // namespace opgauge
