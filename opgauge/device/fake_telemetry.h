// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"
#include "opgauge/device/telemetry.h"

#include <memory>

namespace opgauge {

// Plays OPGAUGE_FAKE_TELEMETRY (docs/fake_backend.md). Kind usage: it is no list of readings.
Result<std::unique_ptr<Telemetry>> open_fake_telemetry(const Device& device,
                                                       const Environment& environment);

}  // namespace opgauge
