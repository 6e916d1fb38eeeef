// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

enum class Health {
    ok,
    warning,   // works, the vendor reports something (Ascend "Warning")
    unusable,  // must not be measured on: lost, requires reset, critical
    unknown,
};

std::string_view name_of(Health health);

struct DeviceProcess {
    long long pid = 0;
    std::string name;                           // empty: unknown
    std::optional<std::uint64_t> memory_bytes;  // nullopt: unknown, never 0 for unknown
};

// One device as its vendor's library or tool tells it. What may be missing is optional; unknown is
// never 0.
struct Device {
    std::string backend;                // "cuda"
    int index = 0;                      // the number that the runtime counts, all devices visible
    std::string token;                  // what pins it in a visibility variable: a UUID where the
                                        // runtime takes one, else the index
    std::string name;                   // model, as printed
    std::optional<std::string> uuid;    // stable id (NVIDIA UUID, AMD uuid, Ascend VDie id)
    std::optional<std::string> pci_id;  // "0000:3b:00.0", lower case, domain of four digits
    std::optional<std::string> partition;  // MIG profile, AMD compute partition
    std::optional<std::uint64_t> memory_total_bytes;
    std::optional<std::uint64_t> memory_free_bytes;
    std::optional<std::uint64_t> memory_used_bytes;
    std::optional<double> power_limit_watts;
    // Readings of the moment; never part of an identity.
    std::optional<double> power_watts;
    std::optional<double> temperature_celsius;
    std::optional<double> utilization_percent;
    std::optional<int> compute_capability;  // NVIDIA major * 10 + minor: 90
    Health health = Health::unknown;
    std::string health_detail;             // the vendor's words, empty where ok
    std::vector<DeviceProcess> processes;  // other processes on it, where the library tells
    bool processes_known = false;          // false: an empty list says nothing
};

// What one backend found, and why it found no more.
struct Discovery {
    std::string backend;
    std::vector<Device> devices;  // ascending by index
    std::string source;           // "libnvidia-ml.so.1" or "nvidia-smi"; empty: neither answered
    std::optional<std::string> driver;   // driver version
    std::optional<std::string> runtime;  // highest runtime version that the driver supports
    std::vector<std::string> reasons;    // one line each: what was tried, what came back
};

}  // namespace opgauge
