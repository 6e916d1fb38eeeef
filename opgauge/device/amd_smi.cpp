// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/amd_smi.h"

#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

constexpr int kAmdGpu = 1;                     // amdsmi processor type
constexpr std::uint64_t kInitGpus = 1U << 1U;  // AMDSMI_INIT_AMD_GPUS
constexpr std::array<std::string_view, 5> kAmdSonames = {"libamd_smi.so", "libamd_smi.so.27",
                                                         "libamd_smi.so.26", "libamd_smi.so.25",
                                                         "libamd_smi.so.24"};
constexpr std::array<std::string_view, 2> kFolders = {"/opt/rocm/lib", "/opt/rocm/lib64"};

Result<AmdSmi> load_amd(const SharedLibrary& library) {
    SymbolTable table(library);
    AmdSmi smi{};
    smi.init = table.required<AmdStatus(std::uint64_t)>("amdsmi_init");
    smi.shut_down = table.required<AmdStatus()>("amdsmi_shut_down");
    smi.sockets = table.required<AmdStatus(std::uint32_t*, void**)>("amdsmi_get_socket_handles");
    smi.processors = table.required<AmdStatus(void*, std::uint32_t*, AmdProcessor*)>(
        "amdsmi_get_processor_handles");
    smi.bdf = table.required<AmdStatus(AmdProcessor, std::uint64_t*)>("amdsmi_get_gpu_device_bdf");
    smi.type = table.optional<AmdStatus(AmdProcessor, int*)>("amdsmi_get_processor_type");
    smi.uuid =
        table.optional<AmdStatus(AmdProcessor, unsigned*, char*)>("amdsmi_get_gpu_device_uuid");
    smi.total =
        table.optional<AmdStatus(AmdProcessor, int, std::uint64_t*)>("amdsmi_get_gpu_memory_total");
    smi.used =
        table.optional<AmdStatus(AmdProcessor, int, std::uint64_t*)>("amdsmi_get_gpu_memory_usage");
    smi.partition = table.optional<AmdStatus(AmdProcessor, char*, std::uint32_t)>(
        "amdsmi_get_gpu_compute_partition");
    smi.enumeration =
        table.optional<AmdStatus(AmdProcessor, AmdEnumeration*)>("amdsmi_get_gpu_enumeration_info");
    smi.text = table.optional<AmdStatus(AmdStatus, const char**)>("amdsmi_status_code_to_string");
    smi.temperature =
        table.optional<AmdStatus(AmdProcessor, int, int, std::int64_t*)>("amdsmi_get_temp_metric");
    smi.clock = table.optional<AmdStatus(AmdProcessor, int, AmdClock*)>("amdsmi_get_clock_info");
    OPGAUGE_TRY(table.check());
    return smi;
}

}  // namespace

std::string AmdSmi::error(AmdStatus code) const {
    const char* words = nullptr;
    if (text != nullptr) text(code, &words);
    return fmt::format("{} (amd_smi {})", words != nullptr ? words : "unknown error", code);
}

AmdSmiSession::AmdSmiSession(SharedLibrary library, const AmdSmi& smi)
    : library_(std::move(library)), smi_(smi) {}

AmdSmiSession::AmdSmiSession(AmdSmiSession&& other) noexcept
    : library_(std::move(other.library_)),
      smi_(other.smi_),
      open_(std::exchange(other.open_, false)) {}

AmdSmiSession::~AmdSmiSession() {
    if (open_) smi_.shut_down();
}

Result<AmdSmiSession> AmdSmiSession::open(const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(SharedLibrary library,
                       open_vendor_library(kAmdSonames, kFolders, environment));
    OPGAUGE_TRY_ASSIGN(const AmdSmi smi, load_amd(library));
    if (const AmdStatus code = smi.init(kInitGpus); code != 0) {
        return fail(ErrorKind::environment,
                    fmt::format("{} cannot start: {}", library.name(), smi.error(code)));
    }
    return AmdSmiSession(std::move(library), smi);
}

// {function:3, device:5, bus:8, domain:48}
std::string amd_bdf_text(std::uint64_t bdf) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{}", bdf >> 16U, bdf >> 8U & 0xffU, bdf >> 3U & 0x1fU,
                       bdf & 7U);
}

AmdStatus list_amd_processors(const AmdSmi& smi, std::vector<AmdProcessor>& gpus) {
    std::uint32_t count = 0;
    if (const AmdStatus code = smi.sockets(&count, nullptr); code != 0) return code;
    std::vector<void*> sockets(count);
    if (count == 0) return 0;
    if (const AmdStatus code = smi.sockets(&count, sockets.data()); code != 0) return code;
    sockets.resize(std::min<std::size_t>(count, sockets.size()));
    for (void* socket : sockets) {
        std::uint32_t on_socket = 0;
        // A socket of processors only has no GPU and may say so with an error.
        if (smi.processors(socket, &on_socket, nullptr) != 0 || on_socket == 0) continue;
        std::vector<AmdProcessor> processors(on_socket);
        if (smi.processors(socket, &on_socket, processors.data()) != 0) continue;
        processors.resize(std::min<std::size_t>(on_socket, processors.size()));
        for (const AmdProcessor processor : processors) {
            int type = kAmdGpu;
            if (smi.type != nullptr) smi.type(processor, &type);
            if (type == kAmdGpu) gpus.push_back(processor);
        }
    }
    return 0;
}

}  // namespace opgauge
