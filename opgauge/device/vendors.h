// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/device/backend.h"

namespace opgauge {

// One function a vendor; backends.cpp puts them into the array. Objects live for ever.
const Backend& cuda_backend();
const Backend& musa_backend();
const Backend& rocm_backend();
const Backend& ascend_backend();
const Backend& cpu_backend();
const Backend& fake_backend();

}  // namespace opgauge
