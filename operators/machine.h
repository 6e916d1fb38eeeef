// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

namespace opgauge::operators {

// The protocol's `device` message for the host: one device, its model, the libraries' versions and
// how many threads they use.
Json machine_report();

// One thread unless the caller's environment says otherwise: a number that depends on what else
// runs is no number. Call it before the first use of a library.
void settle_threads();

}  // namespace opgauge::operators
