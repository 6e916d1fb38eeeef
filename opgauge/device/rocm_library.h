// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/device/device.h"

namespace opgauge {

// Each asks one of AMD's management libraries. True where it answered, with devices or without;
// otherwise `found.reasons` says why not.
bool ask_amd_smi_library(const Environment& environment, Discovery& found);
bool ask_rocm_smi_library(const Environment& environment, Discovery& found);

}  // namespace opgauge
