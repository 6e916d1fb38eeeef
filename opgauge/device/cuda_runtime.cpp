// SPDX-License-Identifier: Apache-2.0
// The ABI below is declared from the public driver API reference (13.0). The driver is used and not
// the runtime library: it comes with every machine that has a device, and has one soname.
#include "opgauge/device/runtime_symbols.h"

#include <fmt/format.h>

#include <array>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 2> kSonames = {"libcuda.so.1", "libcuda.so"};
constexpr std::array<std::string_view, 3> kFolders = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};
constexpr int kL2CacheSize = 38;  // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE

// Spins on the global timer (its step is a microsecond or less) for `length` nanoseconds: as long
// at every clock rate. Old versions of both, since the driver translates forward only.
constexpr const char* kHoldKernel = R"(
.version 6.0
.target sm_52
.address_size 64
.visible .entry opgauge_hold(.param .u64 length)
{
    .reg .pred %more;
    .reg .u64 %begin, %now, %length;
    ld.param.u64 %length, [length];
    mov.u64 %begin, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %begin;
    setp.lt.u64 %more, %now, %length;
    @%more bra again;
    ret;
}
)";

// What only opening needs, beside the table for DeviceRuntime.
struct Driver {
    int (*init)(unsigned flags);
    int (*error_name)(int code, const char** text);
    int (*context_get)(void** context);
    int (*context_set)(void* context);
    int (*context_device)(int* device);
    int (*device_get)(int* device, int ordinal);
    int (*device_attribute)(int* value, int attribute, int device);
    int (*primary_retain)(void** context, int device);
    int (*module_load)(void** module, const void* image);  // optional, with the next two
    int (*module_function)(void** function, void* module, const char* name);
    int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void* stream, void** parameters, void** extra);
};

void load_driver(SymbolTable& table, Driver& driver) {
    require(table, driver.init, "cuInit");
    require(table, driver.error_name, "cuGetErrorName");
    require(table, driver.context_get, "cuCtxGetCurrent");
    require(table, driver.context_set, "cuCtxSetCurrent");
    require(table, driver.context_device, "cuCtxGetDevice");
    require(table, driver.device_get, "cuDeviceGet");
    require(table, driver.device_attribute, "cuDeviceGetAttribute");
    require(table, driver.primary_retain, "cuDevicePrimaryCtxRetain");
    take(table, driver.module_load, "cuModuleLoadData");
    take(table, driver.module_function, "cuModuleGetFunction");
    take(table, driver.launch, "cuLaunchKernel");
}

void load_api(SymbolTable& table, RuntimeApi& api) {
    require(table, api.stream_create, "cuStreamCreate");
    require(table, api.stream_destroy, "cuStreamDestroy_v2");
    require(table, api.stream_synchronize, "cuStreamSynchronize");
    require(table, api.event_create, "cuEventCreate");
    require(table, api.event_destroy, "cuEventDestroy_v2");
    require(table, api.event_record, "cuEventRecord");
    require(table, api.event_query, "cuEventQuery");
    require(table, api.event_synchronize, "cuEventSynchronize");
    require(table, api.event_elapsed, "cuEventElapsedTime");
    require(table, api.memory_allocate, "cuMemAlloc_v2");
    require(table, api.memory_free, "cuMemFree_v2");
    require(table, api.memory_set, "cuMemsetD8Async");
    take(table, api.capture_begin, "cuStreamBeginCapture_v2");
    take(table, api.capture_end, "cuStreamEndCapture");
    take(table, api.graph_nodes, "cuGraphGetNodes");
    take(table, api.graph_instantiate, "cuGraphInstantiateWithFlags");
    take(table, api.graph_launch, "cuGraphLaunch");
    take(table, api.graph_destroy, "cuGraphDestroy");
    take(table, api.graph_executable_destroy, "cuGraphExecDestroy");
}

// The current device. Its primary context is what the runtime library and frameworks use too; it
// stays retained until the process ends, as theirs does.
Result<int> enter_device(const Driver& driver, const RuntimeApi& api, int index) {
    void* context = nullptr;
    int device = 0;
    OPGAUGE_TRY(check_opening(api, driver.context_get(&context), "the current context"));
    if (context != nullptr) {
        OPGAUGE_TRY(check_opening(api, driver.context_device(&device), "the current device"));
        return device;
    }
    OPGAUGE_TRY(
        check_opening(api, driver.device_get(&device, index), fmt::format("device {}", index)));
    OPGAUGE_TRY(check_opening(api, driver.primary_retain(&context, device),
                              fmt::format("the context of device {}", index)));
    OPGAUGE_TRY(check_opening(api, driver.context_set(context), "to make its context current"));
    return device;
}

// Timing works without a hold, only less well: a reason, not an error.
void load_hold(const Driver& driver, RuntimeApi& api) {
    if (driver.module_load == nullptr || driver.module_function == nullptr ||
        driver.launch == nullptr) {
        api.no_hold = fmt::format("{} cannot load kernels", api.library);
        return;
    }
    void* module = nullptr;
    void* function = nullptr;
    int code = driver.module_load(&module, kHoldKernel);
    if (code == kRuntimeSuccess) code = driver.module_function(&function, module, "opgauge_hold");
    if (code != kRuntimeSuccess) {
        api.no_hold = fmt::format("{} does not load the kernel that holds it: {}", api.library,
                                  api.error_text(code));
        return;
    }
    api.launch_hold = [launch = driver.launch, function](void* stream, std::uint64_t length_ns) {
        std::array<void*, 1> parameters = {&length_ns};
        return launch(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters.data(), nullptr);
    };
}

}  // namespace

Result<RuntimeApi> open_cuda_runtime(int device_index, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(SharedLibrary library, open_vendor_library(kSonames, kFolders, environment));
    RuntimeApi api;
    Driver driver{};
    api.backend = "cuda";
    api.library = library.name();
    SymbolTable table(library);
    load_driver(table, driver);
    load_api(table, api);
    OPGAUGE_TRY(table.check());
    library.keep_loaded();
    api.error_text = [error_name = driver.error_name](int code) {
        const char* text = nullptr;
        const int named = error_name(code, &text);
        return fmt::format("{} ({})",
                           named == kRuntimeSuccess && text != nullptr ? text : "unknown", code);
    };
    OPGAUGE_TRY(check_opening(api, driver.init(0), "to start"));
    OPGAUGE_TRY_ASSIGN(const int device, enter_device(driver, api, device_index));
    int bytes = 0;
    if (driver.device_attribute(&bytes, kL2CacheSize, device) == kRuntimeSuccess && bytes > 0) {
        api.l2_bytes = static_cast<std::size_t>(bytes);
    }
    load_hold(driver, api);
    return api;
}

}  // namespace opgauge
