// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/device/device.h"

#include <string>
#include <vector>

namespace opgauge {

// What every backend found: a table of devices, and for each backend without any its reasons.
std::string devices_text(const std::vector<Discovery>& found);
Json devices_json(const std::vector<Discovery>& found);

}  // namespace opgauge
