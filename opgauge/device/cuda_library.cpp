// SPDX-License-Identifier: Apache-2.0
// The ABI below is declared from the public NVML reference (API 13).
#include "opgauge/device/cuda_library.h"

#include "opgauge/base/text.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 2> kSonames = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
constexpr std::array<std::string_view, 3> kFolders = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};

using NvmlDevice = void*;
using NvmlReturn = int;
constexpr NvmlReturn kSuccess = 0;
constexpr NvmlReturn kNotFound = 6;
constexpr NvmlReturn kInsufficientSize = 7;
constexpr NvmlReturn kGpuLost = 15;
constexpr NvmlReturn kResetRequired = 16;
constexpr int kProhibited = 2;  // compute mode: no process may use the device

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
constexpr unsigned long long kMemoryUnknown = ~0ULL;

struct Nvml {
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

    std::string error(NvmlReturn code) const {
        const char* text = error_string(code);
        return fmt::format("{} (NVML {})", text != nullptr ? text : "unknown error", code);
    }
};

void load_optional(const SymbolTable& table, Nvml& nvml) {
    using Processes = NvmlReturn(NvmlDevice, unsigned*, NvmlProcess*);
    nvml.driver = table.optional<NvmlReturn(char*, unsigned)>("nvmlSystemGetDriverVersion");
    nvml.cuda_version = table.optional<NvmlReturn(int*)>("nvmlSystemGetCudaDriverVersion_v2");
    nvml.pci = table.optional<NvmlReturn(NvmlDevice, NvmlPciInfo*)>("nvmlDeviceGetPciInfo_v3");
    nvml.memory = table.optional<NvmlReturn(NvmlDevice, NvmlMemory*)>("nvmlDeviceGetMemoryInfo");
    nvml.power_limit =
        table.optional<NvmlReturn(NvmlDevice, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
    nvml.compute_capability =
        table.optional<NvmlReturn(NvmlDevice, int*, int*)>("nvmlDeviceGetCudaComputeCapability");
    nvml.compute_mode = table.optional<NvmlReturn(NvmlDevice, int*)>("nvmlDeviceGetComputeMode");
    nvml.mig_mode =
        table.optional<NvmlReturn(NvmlDevice, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
    nvml.mig_count =
        table.optional<NvmlReturn(NvmlDevice, unsigned*)>("nvmlDeviceGetMaxMigDeviceCount");
    nvml.mig_handle = table.optional<NvmlReturn(NvmlDevice, unsigned, NvmlDevice*)>(
        "nvmlDeviceGetMigDeviceHandleByIndex");
    nvml.processes = table.optional<Processes>("nvmlDeviceGetComputeRunningProcesses_v3");
    // Drivers before 510 have only this one; its rows are the same.
    if (nvml.processes == nullptr) {
        nvml.processes = table.optional<Processes>("nvmlDeviceGetComputeRunningProcesses_v2");
    }
}

Result<Nvml> load(const SharedLibrary& library) {
    SymbolTable table(library);
    Nvml nvml{};
    nvml.init = table.required<NvmlReturn()>("nvmlInit_v2");
    nvml.error_string = table.required<const char*(NvmlReturn)>("nvmlErrorString");
    nvml.count = table.required<NvmlReturn(unsigned*)>("nvmlDeviceGetCount_v2");
    nvml.handle =
        table.required<NvmlReturn(unsigned, NvmlDevice*)>("nvmlDeviceGetHandleByIndex_v2");
    nvml.name = table.required<NvmlReturn(NvmlDevice, char*, unsigned)>("nvmlDeviceGetName");
    nvml.uuid = table.required<NvmlReturn(NvmlDevice, char*, unsigned)>("nvmlDeviceGetUUID");
    load_optional(table, nvml);
    OPGAUGE_TRY(table.check());
    return nvml;
}

Device broken_device(int index, std::string detail) {
    Device device;
    device.backend = "cuda";
    device.index = index;
    device.token = std::to_string(index);
    device.name = "unknown";
    device.health = Health::unusable;
    device.health_detail = std::move(detail);
    return device;
}

// Reads one handle. A call that fails leaves its fact unknown, but a device that answers "lost" or
// "needs a reset" to any call is unusable: a handle can still be had of such a one.
class DeviceReader {
  public:
    DeviceReader(const Nvml& nvml, NvmlDevice handle, int index)
        : nvml_(nvml), handle_(handle), device_(broken_device(index, "")) {}

    Device read() {
        device_.health = Health::ok;
        add_names();
        add_memory();
        add_place();
        add_limits();
        add_processes();
        if (fatal_ != kSuccess) {
            device_.health = Health::unusable;
            device_.health_detail = nvml_.error(fatal_);
        }
        return std::move(device_);
    }

  private:
    // Calls an optional function; false where it is not there or fails.
    template <typename F, typename... Arguments>
    bool ask(F* function, Arguments... arguments) {
        if (function == nullptr) return false;
        const NvmlReturn code = function(handle_, arguments...);
        if (code == kGpuLost || code == kResetRequired) fatal_ = code;
        return code == kSuccess;
    }

    void add_names() {
        char buffer[96] = {};
        constexpr unsigned kSize = sizeof buffer;
        if (ask(nvml_.name, &buffer[0], kSize)) device_.name = from_buffer(buffer);
        char uuid[96] = {};
        if (ask(nvml_.uuid, &uuid[0], kSize)) device_.uuid = from_buffer(uuid);
        if (device_.uuid) device_.token = *device_.uuid;
    }
    void add_memory() {
        NvmlMemory memory{};
        // Devices that share the system's memory answer "not supported".
        if (!ask(nvml_.memory, &memory) || memory.total == 0) return;
        device_.memory_total_bytes = memory.total;
        device_.memory_free_bytes = memory.free;
        device_.memory_used_bytes = memory.used;
    }
    void add_place() {
        NvmlPciInfo pci{};
        if (ask(nvml_.pci, &pci)) device_.pci_id = normal_pci_id(from_buffer(pci.bus_id));
        int major = 0;
        int minor = 0;
        if (ask(nvml_.compute_capability, &major, &minor)) {
            device_.compute_capability = major * 10 + minor;
        }
    }
    void add_limits() {
        unsigned milliwatts = 0;
        if (ask(nvml_.power_limit, &milliwatts) && milliwatts > 0) {
            device_.power_limit_watts = milliwatts / 1000.0;
        }
        int mode = 0;
        if (ask(nvml_.compute_mode, &mode) && mode == kProhibited) {
            device_.health = Health::unusable;
            device_.health_detail = "its compute mode is Prohibited";
        }
    }
    void add_processes() {
        if (nvml_.processes == nullptr) return;
        std::vector<NvmlProcess> list(16);
        auto count = static_cast<unsigned>(list.size());
        NvmlReturn code = nvml_.processes(handle_, &count, list.data());
        if (code == kInsufficientSize) {
            list.resize(count + 16);  // some may have come meanwhile
            count = static_cast<unsigned>(list.size());
            code = nvml_.processes(handle_, &count, list.data());
        }
        if (code != kSuccess) return;
        device_.processes_known = true;
        for (unsigned i = 0; i < count && i < list.size(); ++i) {
            if (static_cast<pid_t>(list[i].pid) == ::getpid()) continue;
            DeviceProcess process{list[i].pid, process_name(list[i].pid), std::nullopt};
            if (list[i].used_memory != kMemoryUnknown) process.memory_bytes = list[i].used_memory;
            device_.processes.push_back(std::move(process));
        }
    }

    const Nvml& nvml_;
    NvmlDevice handle_;
    Device device_;
    NvmlReturn fatal_ = kSuccess;
};

// The instances of a MIG-enabled GPU: each is a device of its own, the GPU itself is none.
std::vector<Device> mig_children(const Nvml& nvml, NvmlDevice parent, const Device& gpu) {
    std::vector<Device> children;
    unsigned slots = 0;
    if (nvml.mig_count(parent, &slots) != kSuccess) return children;
    for (unsigned slot = 0; slot < slots; ++slot) {
        NvmlDevice handle = nullptr;
        const NvmlReturn code = nvml.mig_handle(parent, slot, &handle);
        if (code == kNotFound) continue;  // an empty slot
        if (code != kSuccess) break;
        Device child = DeviceReader(nvml, handle, gpu.index).read();
        const auto mark = child.name.find("MIG ");
        child.partition = mark == std::string::npos ? "MIG" : child.name.substr(mark);
        child.pci_id = gpu.pci_id;
        child.compute_capability = gpu.compute_capability;
        child.power_limit_watts = gpu.power_limit_watts;
        if (gpu.health == Health::unusable) {
            child.health = gpu.health;
            child.health_detail = gpu.health_detail;
        }
        children.push_back(std::move(child));
    }
    return children;
}

bool mig_enabled(const Nvml& nvml, NvmlDevice handle) {
    unsigned current = 0;
    unsigned pending = 0;
    return nvml.mig_mode != nullptr && nvml.mig_count != nullptr && nvml.mig_handle != nullptr &&
           nvml.mig_mode(handle, &current, &pending) == kSuccess && current == 1;
}

void read_versions(const Nvml& nvml, Discovery& found) {
    char version[80] = {};
    if (nvml.driver != nullptr && nvml.driver(version, sizeof version) == kSuccess) {
        found.driver = from_buffer(version);
    }
    int cuda = 0;
    if (nvml.cuda_version != nullptr && nvml.cuda_version(&cuda) == kSuccess && cuda > 0) {
        found.runtime = fmt::format("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
    }
}

void read_all(const Nvml& nvml, Discovery& found) {
    read_versions(nvml, found);
    unsigned count = 0;
    if (const NvmlReturn code = nvml.count(&count); code != kSuccess) {
        found.reasons.push_back("NVML cannot count devices: " + nvml.error(code));
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        const int index = static_cast<int>(i);
        NvmlDevice handle = nullptr;
        // One broken device never hides the others.
        if (const NvmlReturn code = nvml.handle(i, &handle); code != kSuccess) {
            found.devices.push_back(broken_device(index, nvml.error(code)));
            continue;
        }
        Device device = DeviceReader(nvml, handle, index).read();
        if (!mig_enabled(nvml, handle)) {
            found.devices.push_back(std::move(device));
            continue;
        }
        const auto children = mig_children(nvml, handle, device);
        found.devices.insert(found.devices.end(), children.begin(), children.end());
        if (children.empty()) {
            found.reasons.push_back(fmt::format(
                "device {} ({}) is in MIG mode and has no instance: create one or end the mode",
                index, device.name));
        }
    }
    if (count == 0) found.reasons.emplace_back("the driver works and has no device");
}

}  // namespace

bool ask_nvml(const Environment& environment, Discovery& found) {
    auto library = open_vendor_library(kSonames, kFolders, environment);
    if (!library) {
        found.reasons.push_back(library.error().message);
        return false;
    }
    const auto nvml = load(*library);
    if (!nvml) {
        found.reasons.push_back(nvml.error().message);
        return false;
    }
    if (const NvmlReturn code = nvml->init(); code != kSuccess) {
        found.reasons.push_back("nvmlInit failed: " + nvml->error(code));
        return false;
    }
    found.source = library->name();
    read_all(*nvml, found);
    // Neither shut down nor unloaded: that took 4.4 ms of 31 on an H200, and the process's end does
    // it.
    library->keep_loaded();
    return true;
}

}  // namespace opgauge
