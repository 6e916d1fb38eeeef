// SPDX-License-Identifier: Apache-2.0
// NVML's ABI, declared from its public reference (API 13).
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

using NvmlDevice = void*;
using NvmlReturn = int;
constexpr NvmlReturn kNvmlSuccess = 0;
constexpr NvmlReturn kNvmlNotSupported = 3;
constexpr NvmlReturn kNvmlNotFound = 6;

// The device itself is gone; any call may be the one that says so.
constexpr bool nvml_is_fatal(NvmlReturn code) {
    return code == 15 || code == 16;  // lost, needs a reset
}

struct NvmlMemory {
    unsigned long long total, free, used;
};
struct NvmlPciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct NvmlProcess {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};
struct NvmlViolation {
    unsigned long long reference_us, violation_ns;
};

struct Nvml {
    std::string library;  // the name under which it was found
    NvmlReturn (*init)();
    const char* (*error_string)(NvmlReturn);
    NvmlReturn (*count)(unsigned*);
    NvmlReturn (*handle)(unsigned, NvmlDevice*);
    NvmlReturn (*name)(NvmlDevice, char*, unsigned);
    NvmlReturn (*uuid)(NvmlDevice, char*, unsigned);
    // Optional from here on: null where the library is older.
    NvmlReturn (*driver)(char*, unsigned);
    NvmlReturn (*cuda_version)(int*);
    NvmlReturn (*pci)(NvmlDevice, NvmlPciInfo*);
    NvmlReturn (*memory)(NvmlDevice, NvmlMemory*);
    NvmlReturn (*power_limit)(NvmlDevice, unsigned*);
    NvmlReturn (*compute_capability)(NvmlDevice, int*, int*);
    NvmlReturn (*compute_mode)(NvmlDevice, int*);
    NvmlReturn (*mig_mode)(NvmlDevice, unsigned*, unsigned*);
    NvmlReturn (*mig_count)(NvmlDevice, unsigned*);
    NvmlReturn (*mig_handle)(NvmlDevice, unsigned, NvmlDevice*);
    NvmlReturn (*processes)(NvmlDevice, unsigned*, NvmlProcess*);
    NvmlReturn (*handle_by_uuid)(const char*, NvmlDevice*);
    NvmlReturn (*mig_parent)(NvmlDevice, NvmlDevice*);
    NvmlReturn (*clock)(NvmlDevice, int, unsigned*);
    NvmlReturn (*max_clock)(NvmlDevice, int, unsigned*);
    NvmlReturn (*power)(NvmlDevice, unsigned*);
    NvmlReturn (*temperature)(NvmlDevice, int, unsigned*);
    NvmlReturn (*clock_reasons)(NvmlDevice, unsigned long long*);
    NvmlReturn (*violation)(NvmlDevice, int, NvmlViolation*);
    NvmlReturn (*ecc_errors)(NvmlDevice, int, int, unsigned long long*);
    NvmlReturn (*remapped_rows)(NvmlDevice, unsigned*, unsigned*, unsigned*, unsigned*);
    NvmlReturn (*retired_pending)(NvmlDevice, int*);

    std::string error(NvmlReturn code) const;
};

// Opens and starts NVML. It is neither shut down nor unloaded: that took 4.4 ms of 31 on an H200,
// and the process's end does it; opening it again then costs next to nothing. Kind environment.
Result<Nvml> open_nvml(const Environment& environment);

// A device's handle and, for a MIG instance, its GPU's, which answers what the instance does not.
struct NvmlHandles {
    NvmlDevice device = nullptr;
    NvmlDevice parent = nullptr;
};

// By UUID, since indices move; by index only where the library is too old or the device has no
// UUID. Kind environment: the device is not there or lost.
Result<NvmlHandles> nvml_handles_of(const Nvml& nvml, const Device& device);

// Other processes on the device, this one left out; the code of the failure otherwise.
NvmlReturn nvml_processes(const Nvml& nvml, NvmlDevice handle,
                          std::vector<DeviceProcess>& processes);

// The limit that is in force now, whoever set it. Slow: 3.5 ms on an H200.
std::optional<double> nvml_power_limit(const Nvml& nvml, const NvmlHandles& handles);

}  // namespace opgauge
