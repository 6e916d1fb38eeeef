// SPDX-License-Identifier: Apache-2.0
// DCMI's ABI, declared from dcmi_interface_api.h.
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/base/shared_library.h"
#include "opgauge/device/device.h"
#include "opgauge/device/telemetry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace opgauge {

constexpr int kDcmiNotSupported = -8255;
constexpr unsigned kDcmiVdie = 1;  // the die id that stays: there is no UUID

struct DcmiChipInfo {
    unsigned char type[32], name[32], version[32];
    unsigned ai_cores;
};
struct DcmiHbmInfo {
    std::uint64_t memory_size_mb;
    std::uint32_t frequency;
    std::uint64_t memory_usage_mb;
    int temperature;
    std::uint32_t bandwidth_rate;
};
struct DcmiMemoryInfo {
    std::uint64_t size_mb, available_mb;
    std::uint32_t frequency;
    unsigned long huge_page_size, huge_pages, huge_pages_free;
    std::uint32_t utilization;
    unsigned char reserved[60];
};
struct DcmiProcess {
    int pid;
    unsigned long memory_bytes;
};
struct DcmiPcie {
    std::uint32_t vendor, subvendor, device_id, subdevice;
    int domain;
    std::uint32_t bus, device, function;
    unsigned char reserved[32];
};
struct DcmiDie {
    unsigned words[5];
};

struct Dcmi {
    int (*init)();
    int (*cards)(int*, int*, int);
    int (*devices_in_card)(int, int*);
    // Optional from here on.
    int (*type)(int, int, int*);
    int (*logic_id)(int*, int, int);
    int (*chip)(int, int, DcmiChipInfo*);
    int (*hbm)(int, int, DcmiHbmInfo*);
    int (*memory)(int, int, DcmiMemoryInfo*);
    int (*processes)(int, int, DcmiProcess*, int*);
    int (*health)(int, int, unsigned*);
    int (*pcie)(int, int, DcmiPcie*);
    int (*die)(int, int, unsigned, DcmiDie*);
    int (*driver)(char*, unsigned);
    int (*temperature)(int, int, int*);
    int (*power)(int, int, int*);  // tenths of a watt
    int (*frequency)(int, int, int, unsigned*);
};

std::string dcmi_error(int code);

// DCMI has no call that ends it: the library is closed with the object.
struct DcmiSession {
    SharedLibrary library;
    Dcmi dcmi;
};
// Kind environment: no library, too old, or the driver does not answer.
Result<DcmiSession> open_dcmi(const Environment& environment);

// Where DCMI finds a device, and what the runtime counts.
struct DcmiPlace {
    int card = 0;
    int chip = 0;
    int logic = 0;
};
// Every NPU; a card's controller is none. What could not be read is told in `reasons`.
std::vector<DcmiPlace> dcmi_npus(const Dcmi& dcmi, std::vector<std::string>& reasons);

// The VDie id, empty where it is not told.
std::string dcmi_die_id(const Dcmi& dcmi, const DcmiPlace& place);

// Other processes on the device, this one left out; the code of the failure otherwise.
int dcmi_processes(const Dcmi& dcmi, const DcmiPlace& place, std::vector<DeviceProcess>& processes);

// Kind environment: no DCMI, or the device is not there.
Result<std::unique_ptr<Telemetry>> open_dcmi_telemetry(const Environment& environment,
                                                       const Device& device);

}  // namespace opgauge
