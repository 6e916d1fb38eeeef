// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/nvml.h"

#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <string_view>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 2> kSonames = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
constexpr std::array<std::string_view, 3> kFolders = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};
constexpr NvmlReturn kInsufficientSize = 7;
constexpr unsigned long long kMemoryUnknown = ~0ULL;

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

void load_telemetry(const SymbolTable& table, Nvml& nvml) {
    using Number = NvmlReturn(NvmlDevice, unsigned*);
    using NumberOf = NvmlReturn(NvmlDevice, int, unsigned*);
    using Mask = NvmlReturn(NvmlDevice, unsigned long long*);
    nvml.handle_by_uuid =
        table.optional<NvmlReturn(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByUUID");
    nvml.mig_parent = table.optional<NvmlReturn(NvmlDevice, NvmlDevice*)>(
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    nvml.clock = table.optional<NumberOf>("nvmlDeviceGetClockInfo");
    nvml.max_clock = table.optional<NumberOf>("nvmlDeviceGetMaxClockInfo");
    nvml.power = table.optional<Number>("nvmlDeviceGetPowerUsage");
    nvml.temperature = table.optional<NumberOf>("nvmlDeviceGetTemperature");
    nvml.clock_reasons = table.optional<Mask>("nvmlDeviceGetCurrentClocksEventReasons");
    // Its name before driver 535; the bits are the same.
    if (nvml.clock_reasons == nullptr) {
        nvml.clock_reasons = table.optional<Mask>("nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    nvml.violation =
        table.optional<NvmlReturn(NvmlDevice, int, NvmlViolation*)>("nvmlDeviceGetViolationStatus");
}

void load_health(const SymbolTable& table, Nvml& nvml) {
    nvml.ecc_errors = table.optional<NvmlReturn(NvmlDevice, int, int, unsigned long long*)>(
        "nvmlDeviceGetTotalEccErrors");
    nvml.remapped_rows =
        table.optional<NvmlReturn(NvmlDevice, unsigned*, unsigned*, unsigned*, unsigned*)>(
            "nvmlDeviceGetRemappedRows");
    nvml.retired_pending =
        table.optional<NvmlReturn(NvmlDevice, int*)>("nvmlDeviceGetRetiredPagesPendingStatus");
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
    load_telemetry(table, nvml);
    load_health(table, nvml);
    OPGAUGE_TRY(table.check());
    nvml.library = library.name();
    return nvml;
}

}  // namespace

std::string Nvml::error(NvmlReturn code) const {
    const char* text = error_string(code);
    return fmt::format("{} (NVML {})", text != nullptr ? text : "unknown error", code);
}

Result<Nvml> open_nvml(const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(SharedLibrary library, open_vendor_library(kSonames, kFolders, environment));
    OPGAUGE_TRY_ASSIGN(Nvml nvml, load(library));
    if (const NvmlReturn code = nvml.init(); code != kNvmlSuccess) {
        return fail(ErrorKind::environment, "nvmlInit failed: " + nvml.error(code));
    }
    library.keep_loaded();
    return nvml;
}

Result<NvmlHandles> nvml_handles_of(const Nvml& nvml, const Device& device) {
    NvmlHandles handles;
    const bool by_uuid = device.uuid && nvml.handle_by_uuid != nullptr;
    if (!by_uuid && device.partition) {
        return fail(ErrorKind::environment,
                    fmt::format("{}: this NVML finds no instance by its UUID; update the driver",
                                device.token));
    }
    const NvmlReturn code = by_uuid
                                ? nvml.handle_by_uuid(device.uuid->c_str(), &handles.device)
                                : nvml.handle(static_cast<unsigned>(device.index), &handles.device);
    if (code != kNvmlSuccess) {
        return fail(ErrorKind::environment,
                    fmt::format("NVML does not open device {}: {}; see `opgauge devices`",
                                device.token, nvml.error(code)));
    }
    if (device.partition && nvml.mig_parent != nullptr &&
        nvml.mig_parent(handles.device, &handles.parent) != kNvmlSuccess) {
        handles.parent = nullptr;
    }
    return handles;
}

NvmlReturn nvml_processes(const Nvml& nvml, NvmlDevice handle,
                          std::vector<DeviceProcess>& processes) {
    if (nvml.processes == nullptr) return kNvmlNotSupported;
    std::vector<NvmlProcess> list(16);
    auto count = static_cast<unsigned>(list.size());
    NvmlReturn code = nvml.processes(handle, &count, list.data());
    if (code == kInsufficientSize) {
        list.resize(count + 16);  // some may have come meanwhile
        count = static_cast<unsigned>(list.size());
        code = nvml.processes(handle, &count, list.data());
    }
    if (code != kNvmlSuccess) return code;
    for (unsigned i = 0; i < count && i < list.size(); ++i) {
        if (static_cast<pid_t>(list[i].pid) == ::getpid()) continue;
        DeviceProcess process{list[i].pid, process_name(list[i].pid), std::nullopt};
        if (list[i].used_memory != kMemoryUnknown) process.memory_bytes = list[i].used_memory;
        processes.push_back(std::move(process));
    }
    return kNvmlSuccess;
}

std::optional<double> nvml_power_limit(const Nvml& nvml, const NvmlHandles& handles) {
    if (nvml.power_limit == nullptr) return std::nullopt;
    unsigned milliwatts = 0;
    for (const NvmlDevice handle : {handles.device, handles.parent}) {
        if (handle != nullptr && nvml.power_limit(handle, &milliwatts) == kNvmlSuccess &&
            milliwatts > 0) {
            return milliwatts / 1000.0;
        }
    }
    return std::nullopt;
}

}  // namespace opgauge
