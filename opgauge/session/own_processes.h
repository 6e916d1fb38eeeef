// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/device/device.h"

#include <vector>

namespace opgauge {

// Which processes on a device are no strangers.
struct OwnProcesses {
    long long root = 0;  // it and its descendants
    // In a container the driver may number processes as the host does. Where none of ours is seen,
    // so many of those that are not known here are taken for ours.
    int hidden = 0;
    std::vector<long long> earlier;  // on the device before ours, so none of the hidden ones
};

std::vector<DeviceProcess> strangers(std::vector<DeviceProcess> processes, const OwnProcesses& own);

}  // namespace opgauge
