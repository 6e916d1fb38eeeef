// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/session/device_watch.h"

#include <chrono>
#include <optional>
#include <string>

namespace opgauge {

struct MemoryWait {
    std::chrono::milliseconds interval{100};
    int polls = 100;
};

// After a child ran out of memory: waits until the device has nearly as much free as before the
// run; ends early at an interrupt. Why it has not, in one line; nullopt: it has, or the library
// does not tell.
std::optional<std::string> wait_for_memory(DeviceWatch& watch, const MemoryWait& wait = {});

}  // namespace opgauge
