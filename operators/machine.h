// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include "operators/pinning.h"

namespace opgauge::operators {

// The protocol's `device` message for the host: how many devices (NUMA nodes) are left to compute
// on, their model, the libraries' versions and how many threads they use.
Json machine_report(const Pinned& pinned);

// OpenBLAS uses as many threads as oneDNN, which obeys OMP_NUM_THREADS (opgauge sets it to 1 unless
// the caller has set it): sides with different numbers of threads do not compare code.
void settle_threads();

}  // namespace opgauge::operators
