// SPDX-License-Identifier: Apache-2.0
// MTML's ABI, declared from mtml.h 2.2.0.
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/base/shared_library.h"
#include "opgauge/device/device.h"
#include "opgauge/device/telemetry.h"

#include <memory>
#include <string>

namespace opgauge {

using MtmlHandle = void*;
using MtmlReturn = int;
constexpr MtmlReturn kMtmlSuccess = 0;
constexpr MtmlReturn kMtmlNotSupported = 4;

struct MtmlPciInfo {
    char sbdf[32];
    unsigned segment, bus, device, pci_device_id, pci_subsystem_id, bus_width;
    float max_speed, current_speed;
    unsigned max_width, current_width, max_generation, current_generation;
    int reserved[6];
};

struct Mtml {
    MtmlReturn (*init)(MtmlHandle*);
    MtmlReturn (*shut_down)(MtmlHandle);
    const char* (*error_string)(MtmlReturn);
    MtmlReturn (*count)(MtmlHandle, unsigned*);
    MtmlReturn (*device)(MtmlHandle, unsigned, MtmlHandle*);
    MtmlReturn (*name)(MtmlHandle, char*, unsigned);
    // Optional from here on.
    MtmlReturn (*free_device)(MtmlHandle);
    MtmlReturn (*uuid)(MtmlHandle, char*, unsigned);
    MtmlReturn (*pci)(MtmlHandle, MtmlPciInfo*);
    MtmlReturn (*init_system)(MtmlHandle, MtmlHandle*);
    MtmlReturn (*driver)(MtmlHandle, char*, unsigned);
    MtmlReturn (*init_memory)(MtmlHandle, MtmlHandle*);
    MtmlReturn (*free_memory)(MtmlHandle);
    MtmlReturn (*memory_total)(MtmlHandle, unsigned long long*);
    MtmlReturn (*memory_used)(MtmlHandle, unsigned long long*);
    MtmlReturn (*memory_clock)(MtmlHandle, unsigned*);
    MtmlReturn (*device_by_uuid)(MtmlHandle, const char*, MtmlHandle*);
    MtmlReturn (*power)(MtmlHandle, unsigned*);
    MtmlReturn (*init_gpu)(MtmlHandle, MtmlHandle*);
    MtmlReturn (*free_gpu)(MtmlHandle);
    MtmlReturn (*clock)(MtmlHandle, unsigned*);
    MtmlReturn (*max_clock)(MtmlHandle, unsigned*);
    MtmlReturn (*temperature)(MtmlHandle, int*);

    std::string error(MtmlReturn code) const;
};

// An open MTML, started; it ends with the object.
class MtmlSession {
  public:
    // Kind environment: no library, too old, or the driver does not answer.
    static Result<MtmlSession> open(const Environment& environment);
    MtmlSession(MtmlSession&& other) noexcept;
    MtmlSession& operator=(MtmlSession&& other) = delete;
    ~MtmlSession();

    const Mtml& mtml() const { return mtml_; }
    MtmlHandle handle() const { return handle_; }
    const std::string& library_name() const { return library_.name(); }

  private:
    MtmlSession(SharedLibrary library, const Mtml& mtml, MtmlHandle handle);

    SharedLibrary library_;
    Mtml mtml_;
    MtmlHandle handle_;
};

// Kind environment: no MTML, or the device is not there.
Result<std::unique_ptr<Telemetry>> open_mtml_telemetry(const Environment& environment,
                                                       const Device& device);

}  // namespace opgauge
