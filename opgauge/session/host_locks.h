// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/file_lock.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"
#include "opgauge/session/measuring_section.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

namespace opgauge {

// Whether this process measures only while no other one of the host does.
enum class Measuring { exclusive, parallel };

// OPGAUGE_LOCKS, else one folder for all users of the host.
std::filesystem::path locks_folder(const Environment& environment);

// The host's measuring section: measure.lock for one process at a time, and a place in
// measuring.slots for each that measures, by which the others are counted. `parallel` takes the
// place only. Kind environment: the locks cannot be opened.
Result<std::unique_ptr<MeasuringSection>> open_measuring_section(Measuring measuring,
                                                                 const Environment& environment);

// The right to launch work on a device that several lanes share: whose turn it is. Kind
// environment: the lock cannot be opened.
Result<std::unique_ptr<HostTurn>> open_device_turn(const Device& device,
                                                   const Environment& environment);

// The right to use a device for as long as this object lives (or until the process ends).
class DeviceLease {
  public:
    // Waits up to `wait` for another holder; a signal ends the wait. `command` is told to those who
    // are refused. Kind environment: it is leased (names the holder), or the locks cannot be
    // opened.
    static Result<DeviceLease> take(const Device& device, const std::string& command,
                                    std::chrono::milliseconds wait, const Environment& environment);

  private:
    explicit DeviceLease(FileLock lock) : lock_(std::move(lock)) {}
    FileLock lock_;
};

}  // namespace opgauge
