// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace opgauge {

// The right to use each of these devices, for as long as the object lives.
class Leases {
  public:
    virtual ~Leases() = default;
};

// In the order of the devices' ids, so that two batches that want the same ones never wait for each
// other. `command` is told to those who are refused. Kind environment: another holds one.
Result<std::unique_ptr<Leases>> take_leases(std::vector<Device> devices, const std::string& command,
                                            std::chrono::seconds wait,
                                            const Environment& environment);

}  // namespace opgauge
