// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opgauge/base/result.h>
#include <opgauge/measure/timer.h>

#include <functional>
#include <string>

// One thing to time, and how to see that it was done.
struct Work {
    std::string what;
    opgauge::measure::Callable callable;
    opgauge::measure::Proof proof;
};

// Adds two vectors on the host.
Work cpu_work();
// Adds two vectors by a kernel, fills one through the runtime. Each opens the vendor's own library
// at run time and works on the device that is current: open a DeviceRuntime first.
opgauge::Result<Work> cuda_work();
opgauge::Result<Work> hip_work();
