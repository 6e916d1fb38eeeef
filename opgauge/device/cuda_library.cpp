// SPDX-License-Identifier: Apache-2.0
// Which devices NVML lists, and what it tells of each at little cost.
#include "opgauge/device/cuda_library.h"

#include "opgauge/device/nvml.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr int kProhibited = 2;  // compute mode: no process may use the device

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
        add_compute_mode();
        add_processes();
        if (fatal_ != kNvmlSuccess) {
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
        if (nvml_is_fatal(code)) fatal_ = code;
        return code == kNvmlSuccess;
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
    void add_compute_mode() {
        int mode = 0;
        if (ask(nvml_.compute_mode, &mode) && mode == kProhibited) {
            device_.health = Health::unusable;
            device_.health_detail = "its compute mode is Prohibited";
        }
    }
    void add_processes() {
        device_.processes_known = nvml_processes(nvml_, handle_, device_.processes) == kNvmlSuccess;
    }

    const Nvml& nvml_;
    NvmlDevice handle_;
    Device device_;
    NvmlReturn fatal_ = kNvmlSuccess;
};

// The instances of a MIG-enabled GPU: each is a device of its own, the GPU itself is none.
std::vector<Device> mig_children(const Nvml& nvml, NvmlDevice parent, const Device& gpu) {
    std::vector<Device> children;
    unsigned slots = 0;
    if (nvml.mig_count(parent, &slots) != kNvmlSuccess) return children;
    for (unsigned slot = 0; slot < slots; ++slot) {
        NvmlDevice handle = nullptr;
        const NvmlReturn code = nvml.mig_handle(parent, slot, &handle);
        if (code == kNvmlNotFound) continue;  // an empty slot
        if (code != kNvmlSuccess) break;
        Device child = DeviceReader(nvml, handle, gpu.index).read();
        const auto mark = child.name.find("MIG ");
        child.partition = mark == std::string::npos ? "MIG" : child.name.substr(mark);
        child.pci_id = gpu.pci_id;
        child.compute_capability = gpu.compute_capability;
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
           nvml.mig_mode(handle, &current, &pending) == kNvmlSuccess && current == 1;
}

void read_versions(const Nvml& nvml, Discovery& found) {
    char version[80] = {};
    if (nvml.driver != nullptr && nvml.driver(version, sizeof version) == kNvmlSuccess) {
        found.driver = from_buffer(version);
    }
    int cuda = 0;
    if (nvml.cuda_version != nullptr && nvml.cuda_version(&cuda) == kNvmlSuccess && cuda > 0) {
        found.runtime = fmt::format("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
    }
}

void read_all(const Nvml& nvml, Discovery& found) {
    read_versions(nvml, found);
    unsigned count = 0;
    if (const NvmlReturn code = nvml.count(&count); code != kNvmlSuccess) {
        found.reasons.push_back("NVML cannot count devices: " + nvml.error(code));
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        const int index = static_cast<int>(i);
        NvmlDevice handle = nullptr;
        // One broken device never hides the others.
        if (const NvmlReturn code = nvml.handle(i, &handle); code != kNvmlSuccess) {
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
    const auto nvml = open_nvml(environment);
    if (!nvml) {
        found.reasons.push_back(nvml.error().message);
        return false;
    }
    found.source = nvml->library;
    read_all(*nvml, found);
    return true;
}

void complete_by_nvml(const Environment& environment, Device& device) {
    const auto nvml = open_nvml(environment);
    if (!nvml) return;
    if (const auto handles = nvml_handles_of(*nvml, device)) {
        device.power_limit_watts = nvml_power_limit(*nvml, *handles);
    }
}

}  // namespace opgauge
