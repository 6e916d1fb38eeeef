// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/device/backends.h"

namespace opgauge {

// The `device` of a child's job: what the child must see.
Json planned_device(const SelectedDevice& selected);

}  // namespace opgauge
