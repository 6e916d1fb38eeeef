// SPDX-License-Identifier: Apache-2.0
// NVIDIA: NVML, then nvidia-smi. The ABI below is declared from the public NVML reference (API 13).
#include "opgauge/base/text.h"
#include "opgauge/device/cuda_tool.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "10de";
constexpr std::array<std::string_view, 2> kSonames = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
constexpr std::array<std::string_view, 3> kFolders = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};

using NvmlDevice = void*;
using NvmlReturn = int;
constexpr NvmlReturn kSuccess = 0;
constexpr NvmlReturn kNotFound = 6;
constexpr NvmlReturn kInsufficientSize = 7;

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
    NvmlReturn (*shutdown)();
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
    NvmlReturn (*mig_mode)(NvmlDevice, unsigned*, unsigned*);
    NvmlReturn (*mig_count)(NvmlDevice, unsigned*);
    NvmlReturn (*mig_handle)(NvmlDevice, unsigned, NvmlDevice*);
    NvmlReturn (*processes)(NvmlDevice, unsigned*, NvmlProcess*);

    std::string error(NvmlReturn code) const {
        const char* text = error_string(code);
        return fmt::format("{} (NVML {})", text != nullptr ? text : "unknown error", code);
    }
};

Result<Nvml> load(const SharedLibrary& library) {
    SymbolTable table(library);
    Nvml nvml{};
    nvml.init = table.required<NvmlReturn()>("nvmlInit_v2");
    nvml.shutdown = table.required<NvmlReturn()>("nvmlShutdown");
    nvml.error_string = table.required<const char*(NvmlReturn)>("nvmlErrorString");
    nvml.count = table.required<NvmlReturn(unsigned*)>("nvmlDeviceGetCount_v2");
    nvml.handle =
        table.required<NvmlReturn(unsigned, NvmlDevice*)>("nvmlDeviceGetHandleByIndex_v2");
    nvml.name = table.required<NvmlReturn(NvmlDevice, char*, unsigned)>("nvmlDeviceGetName");
    nvml.uuid = table.required<NvmlReturn(NvmlDevice, char*, unsigned)>("nvmlDeviceGetUUID");
    nvml.driver = table.optional<NvmlReturn(char*, unsigned)>("nvmlSystemGetDriverVersion");
    nvml.cuda_version = table.optional<NvmlReturn(int*)>("nvmlSystemGetCudaDriverVersion_v2");
    nvml.pci = table.optional<NvmlReturn(NvmlDevice, NvmlPciInfo*)>("nvmlDeviceGetPciInfo_v3");
    nvml.memory = table.optional<NvmlReturn(NvmlDevice, NvmlMemory*)>("nvmlDeviceGetMemoryInfo");
    nvml.power_limit =
        table.optional<NvmlReturn(NvmlDevice, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
    nvml.compute_capability =
        table.optional<NvmlReturn(NvmlDevice, int*, int*)>("nvmlDeviceGetCudaComputeCapability");
    nvml.mig_mode =
        table.optional<NvmlReturn(NvmlDevice, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
    nvml.mig_count =
        table.optional<NvmlReturn(NvmlDevice, unsigned*)>("nvmlDeviceGetMaxMigDeviceCount");
    nvml.mig_handle = table.optional<NvmlReturn(NvmlDevice, unsigned, NvmlDevice*)>(
        "nvmlDeviceGetMigDeviceHandleByIndex");
    nvml.processes = table.optional<NvmlReturn(NvmlDevice, unsigned*, NvmlProcess*)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    OPGAUGE_TRY(table.check());
    return nvml;
}

void add_memory(const Nvml& nvml, NvmlDevice handle, Device& device) {
    NvmlMemory memory{};
    if (nvml.memory == nullptr || nvml.memory(handle, &memory) != kSuccess) return;
    device.memory_total_bytes = memory.total;
    device.memory_free_bytes = memory.free;
}

void add_processes(const Nvml& nvml, NvmlDevice handle, Device& device) {
    if (nvml.processes == nullptr) return;
    std::vector<NvmlProcess> list(16);
    auto count = static_cast<unsigned>(list.size());
    NvmlReturn code = nvml.processes(handle, &count, list.data());
    if (code == kInsufficientSize) {
        list.resize(count + 16);  // some may have come meanwhile
        count = static_cast<unsigned>(list.size());
        code = nvml.processes(handle, &count, list.data());
    }
    if (code != kSuccess) return;
    for (unsigned i = 0; i < count && i < list.size(); ++i) {
        if (static_cast<pid_t>(list[i].pid) == ::getpid()) continue;
        DeviceProcess process{list[i].pid, process_name(list[i].pid), std::nullopt};
        if (list[i].used_memory != kMemoryUnknown) process.memory_bytes = list[i].used_memory;
        device.processes.push_back(std::move(process));
    }
}

std::string text_of(NvmlReturn (*get)(NvmlDevice, char*, unsigned), NvmlDevice handle) {
    char buffer[96] = {};
    return get(handle, buffer, sizeof buffer) == kSuccess ? from_buffer(buffer) : std::string();
}

void add_pci_and_power(const Nvml& nvml, NvmlDevice handle, Device& device) {
    NvmlPciInfo pci{};
    if (nvml.pci != nullptr && nvml.pci(handle, &pci) == kSuccess) {
        device.pci_id = normal_pci_id(from_buffer(pci.bus_id));
    }
    unsigned milliwatts = 0;
    if (nvml.power_limit != nullptr && nvml.power_limit(handle, &milliwatts) == kSuccess &&
        milliwatts > 0) {
        device.power_limit_watts = milliwatts / 1000.0;
    }
    int major = 0;
    int minor = 0;
    if (nvml.compute_capability != nullptr &&
        nvml.compute_capability(handle, &major, &minor) == kSuccess) {
        device.compute_capability = major * 10 + minor;
    }
}

Device read_device(const Nvml& nvml, NvmlDevice handle, int index) {
    Device device;
    device.backend = "cuda";
    device.index = index;
    device.name = text_of(nvml.name, handle);
    const std::string uuid = text_of(nvml.uuid, handle);
    if (!uuid.empty()) device.uuid = uuid;
    device.token = uuid.empty() ? std::to_string(index) : uuid;
    add_memory(nvml, handle, device);
    add_processes(nvml, handle, device);
    device.health = Health::ok;
    return device;
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
        Device child = read_device(nvml, handle, gpu.index);
        const auto mark = child.name.find("MIG ");
        child.partition = mark == std::string::npos ? "MIG" : child.name.substr(mark);
        child.pci_id = gpu.pci_id;
        child.compute_capability = gpu.compute_capability;
        child.power_limit_watts = gpu.power_limit_watts;
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

void read_all(const Nvml& nvml, Discovery& found) {
    char version[80] = {};
    if (nvml.driver != nullptr && nvml.driver(version, sizeof version) == kSuccess) {
        found.driver = from_buffer(version);
    }
    int cuda = 0;
    if (nvml.cuda_version != nullptr && nvml.cuda_version(&cuda) == kSuccess && cuda > 0) {
        found.runtime = fmt::format("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
    }
    unsigned count = 0;
    if (const NvmlReturn code = nvml.count(&count); code != kSuccess) {
        found.reasons.push_back("NVML cannot count devices: " + nvml.error(code));
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        NvmlDevice handle = nullptr;
        // One broken device never hides the others.
        if (const NvmlReturn code = nvml.handle(i, &handle); code != kSuccess) {
            found.devices.push_back(broken_device(static_cast<int>(i), nvml.error(code)));
            continue;
        }
        Device device = read_device(nvml, handle, static_cast<int>(i));
        add_pci_and_power(nvml, handle, device);
        if (!mig_enabled(nvml, handle)) {
            found.devices.push_back(std::move(device));
            continue;
        }
        for (auto& child : mig_children(nvml, handle, device)) found.devices.push_back(child);
    }
    if (found.devices.empty()) found.reasons.emplace_back("the driver works and has no device");
}

// True where the library answered, with devices or without.
bool ask_library(const Environment& environment, Discovery& found) {
    const auto library = open_vendor_library(kSonames, kFolders, environment);
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
    nvml->shutdown();
    return true;
}

class CudaBackend final : public Backend {
  public:
    std::string_view name() const override { return "cuda"; }
    std::vector<std::string_view> aliases() const override { return {"nvidia", "gpu", "nv"}; }
    bool accelerator() const override { return true; }
    std::set<Capability> capabilities() const override {
        return {all_capabilities().begin(), all_capabilities().end()};
    }
    std::string_view default_timer() const override { return "graph"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"CUDA_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override {
        return {"CUDA_LAUNCH_BLOCKING",   "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING",
                "CUDA_FORCE_PTX_JIT",     "NVIDIA_TF32_OVERRIDE",        "CUBLAS_WORKSPACE_CONFIG",
                "CUBLASLT_WORKSPACE_SIZE"};
    }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "cuda";
        if (!ask_library(environment, found)) ask_nvidia_smi(environment, found);
        if (found.devices.empty()) {
            if (auto seen = pci_presence(kPciVendor, environment)) found.reasons.push_back(*seen);
        }
        return found;
    }

    Result<CallerMask> caller_mask(const Environment& environment) const override {
        const auto value = environment.get("CUDA_VISIBLE_DEVICES");
        if (!value) return CallerMask{};
        return read_mask("CUDA_VISIBLE_DEVICES", *value, rules());
    }

    Result<std::optional<Device>> device_of_token(const Discovery& discovery,
                                                  const CallerMask& mask, const std::string& token,
                                                  const Environment& environment) const override {
        // CUDA's own order (fastest first) is not NVML's (by PCI address) where models differ.
        const auto& devices = discovery.devices;
        const bool differ = std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
            return device.name != devices.front().name;
        });
        const bool by_pci = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
        if (token_index(token) && differ && !by_pci) {
            return fail(
                ErrorKind::usage,
                fmt::format("{}={} is an index, the devices' models differ and CUDA's order "
                            "is not known; use UUIDs or set CUDA_DEVICE_ORDER=PCI_BUS_ID",
                            mask.variable, token));
        }
        return Backend::device_of_token(discovery, mask, token, environment);
    }

    Result<EnvironmentChanges> pin(const Environment& environment,
                                   const std::vector<std::string>& tokens) const override {
        EnvironmentChanges changes;
        changes["CUDA_VISIBLE_DEVICES"] = join(tokens, ",");
        // Our own indices come from NVML; a caller's keep the order that the caller has.
        const bool own_index = !environment.get("CUDA_VISIBLE_DEVICES") &&
                               std::any_of(tokens.begin(), tokens.end(), [](const auto& t) {
                                   return token_index(t).has_value();
                               });
        if (own_index && !environment.get("CUDA_DEVICE_ORDER")) {
            changes["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
        }
        return changes;
    }

  private:
    static MaskRules rules() {
        MaskRules rules;
        rules.numbers = MaskRules::Numbers::lenient;
        rules.id_prefixes = {"GPU-", "MIG-"};
        return rules;
    }
};

}  // namespace

const Backend& cuda_backend() {
    static const CudaBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
