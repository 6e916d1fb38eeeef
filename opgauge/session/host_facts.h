// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

namespace opgauge {

// {"name", "kernel", "cpu_model", "cores", "memory_total_bytes"} of this machine; null: unknown.
// Boot-stable facts only.
Json host_facts();

}  // namespace opgauge
