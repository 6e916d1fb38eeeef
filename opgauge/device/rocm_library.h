// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"
#include "opgauge/device/telemetry.h"

#include <memory>

namespace opgauge {

// Each asks one of AMD's management libraries. True where it answered, with devices or without;
// otherwise `found.reasons` says why not.
bool ask_amd_smi_library(const Environment& environment, Discovery& found);
bool ask_rocm_smi_library(const Environment& environment, Discovery& found);

// Reads libamd_smi where it is there and the kernel's own files for the rest. Kind environment:
// neither knows the device.
Result<std::unique_ptr<Telemetry>> open_rocm_telemetry(const Environment& environment,
                                                       const Device& device);

}  // namespace opgauge
