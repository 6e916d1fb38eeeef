// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/device/device.h"

namespace opgauge {

// Asks NVML. True where it answered, with devices or without; otherwise `found.reasons` says why
// not.
bool ask_nvml(const Environment& environment, Discovery& found);

}  // namespace opgauge
