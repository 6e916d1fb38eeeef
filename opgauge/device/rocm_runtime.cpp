// SPDX-License-Identifier: Apache-2.0
// The ABI below is declared from the public HIP reference (6.0). Written against a stand-in; not
// yet run on a device.
#include "opgauge/device/runtime_symbols.h"

#include <fmt/format.h>

#include <array>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 3> kSonames = {"libamdhip64.so.7", "libamdhip64.so.6",
                                                      "libamdhip64.so"};
constexpr std::array<std::string_view, 1> kFolders = {"/opt/rocm/lib"};
constexpr int kL2CacheSize = 19;  // hipDeviceAttributeL2CacheSize

struct Hip {
    int (*init)(unsigned flags);
    const char* (*error_name)(int code);
    int (*device_count)(int* count);
    int (*device_get)(int* device);
    int (*device_set)(int device);
    int (*device_attribute)(int* value, int attribute, int device);
};

void load_hip(SymbolTable& table, Hip& hip) {
    require(table, hip.init, "hipInit");
    require(table, hip.error_name, "hipGetErrorName");
    require(table, hip.device_count, "hipGetDeviceCount");
    require(table, hip.device_get, "hipGetDevice");
    require(table, hip.device_set, "hipSetDevice");
    require(table, hip.device_attribute, "hipDeviceGetAttribute");
}

void load_api(SymbolTable& table, RuntimeApi& api) {
    require(table, api.stream_create, "hipStreamCreateWithFlags");
    require(table, api.stream_destroy, "hipStreamDestroy");
    require(table, api.stream_synchronize, "hipStreamSynchronize");
    require(table, api.event_create, "hipEventCreateWithFlags");
    require(table, api.event_destroy, "hipEventDestroy");
    require(table, api.event_record, "hipEventRecord");
    require(table, api.event_query, "hipEventQuery");
    require(table, api.event_synchronize, "hipEventSynchronize");
    require(table, api.event_elapsed, "hipEventElapsedTime");
    require(table, api.memory_allocate, "hipMalloc");
    require(table, api.memory_free, "hipFree");
    require(table, api.memory_set, "hipMemsetD8Async");
    take(table, api.capture_begin, "hipStreamBeginCapture");
    take(table, api.capture_end, "hipStreamEndCapture");
    take(table, api.graph_nodes, "hipGraphGetNodes");
    take(table, api.graph_instantiate, "hipGraphInstantiateWithFlags");
    take(table, api.graph_launch, "hipGraphLaunch");
    take(table, api.graph_destroy, "hipGraphDestroy");
    take(table, api.graph_executable_destroy, "hipGraphExecDestroy");
}

// A device is always current here, the first one unless the caller chose: 0 leaves the choice
// alone.
Result<int> enter_device(const Hip& hip, const RuntimeApi& api, int index) {
    int count = 0;
    OPGAUGE_TRY(check_opening(api, hip.device_count(&count), "to count devices"));
    if (index >= count) {
        return fail(ErrorKind::environment,
                    fmt::format("{} has no device {}: it sees {}", api.library, index, count));
    }
    if (index != 0) {
        OPGAUGE_TRY(check_opening(api, hip.device_set(index), fmt::format("device {}", index)));
    }
    int device = 0;
    OPGAUGE_TRY(check_opening(api, hip.device_get(&device), "the current device"));
    return device;
}

}  // namespace

Result<RuntimeApi> open_rocm_runtime(int device_index, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(SharedLibrary library, open_vendor_library(kSonames, kFolders, environment));
    RuntimeApi api;
    Hip hip{};
    api.backend = "rocm";
    api.library = library.name();
    SymbolTable table(library);
    load_hip(table, hip);
    load_api(table, api);
    OPGAUGE_TRY(table.check());
    library.keep_loaded();
    api.error_text = [error_name = hip.error_name](int code) {
        const char* text = error_name(code);
        return fmt::format("{} ({})", text != nullptr ? text : "unknown", code);
    };
    OPGAUGE_TRY(check_opening(api, hip.init(0), "to start"));
    OPGAUGE_TRY_ASSIGN(const int device, enter_device(hip, api, device_index));
    int bytes = 0;
    if (hip.device_attribute(&bytes, kL2CacheSize, device) == kRuntimeSuccess && bytes > 0) {
        api.l2_bytes = static_cast<std::size_t>(bytes);
    }
    // A kernel would be needed for every architecture: there is no portable form to embed.
    api.no_hold = "no kernel to hold it with is built for this vendor";
    return api;
}

}  // namespace opgauge
