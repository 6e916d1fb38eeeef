// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/mtml.h"

#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 2> kSonames = {"libmtml.so", "libmtml.so.1"};
constexpr std::array<std::string_view, 2> kFolders = {"/usr/lib/x86_64-linux-gnu",
                                                      "/usr/local/musa/lib"};

Result<Mtml> load(const SharedLibrary& library) {
    SymbolTable table(library);
    Mtml mtml{};
    using DeviceText = MtmlReturn(MtmlHandle, char*, unsigned);
    using Number = MtmlReturn(MtmlHandle, unsigned*);
    using Amount = MtmlReturn(MtmlHandle, unsigned long long*);
    mtml.init = table.required<MtmlReturn(MtmlHandle*)>("mtmlLibraryInit");
    mtml.shut_down = table.required<MtmlReturn(MtmlHandle)>("mtmlLibraryShutDown");
    mtml.count = table.required<MtmlReturn(MtmlHandle, unsigned*)>("mtmlLibraryCountDevice");
    mtml.device = table.required<MtmlReturn(MtmlHandle, unsigned, MtmlHandle*)>(
        "mtmlLibraryInitDeviceByIndex");
    mtml.name = table.required<DeviceText>("mtmlDeviceGetName");
    mtml.error_string = table.optional<const char*(MtmlReturn)>("mtmlErrorString");
    mtml.free_device = table.optional<MtmlReturn(MtmlHandle)>("mtmlLibraryFreeDevice");
    mtml.uuid = table.optional<DeviceText>("mtmlDeviceGetUUID");
    mtml.pci = table.optional<MtmlReturn(MtmlHandle, MtmlPciInfo*)>("mtmlDeviceGetPciInfo");
    mtml.init_system = table.optional<MtmlReturn(MtmlHandle, MtmlHandle*)>("mtmlLibraryInitSystem");
    mtml.driver = table.optional<DeviceText>("mtmlSystemGetDriverVersion");
    mtml.init_memory = table.optional<MtmlReturn(MtmlHandle, MtmlHandle*)>("mtmlDeviceInitMemory");
    mtml.free_memory = table.optional<MtmlReturn(MtmlHandle)>("mtmlDeviceFreeMemory");
    mtml.memory_total = table.optional<Amount>("mtmlMemoryGetTotal");
    mtml.memory_used = table.optional<Amount>("mtmlMemoryGetUsed");
    mtml.memory_clock = table.optional<Number>("mtmlMemoryGetClock");
    mtml.device_by_uuid = table.optional<MtmlReturn(MtmlHandle, const char*, MtmlHandle*)>(
        "mtmlLibraryInitDeviceByUuid");
    mtml.power = table.optional<Number>("mtmlDeviceGetPowerUsage");
    mtml.init_gpu = table.optional<MtmlReturn(MtmlHandle, MtmlHandle*)>("mtmlDeviceInitGpu");
    mtml.free_gpu = table.optional<MtmlReturn(MtmlHandle)>("mtmlDeviceFreeGpu");
    mtml.clock = table.optional<Number>("mtmlGpuGetClock");
    mtml.max_clock = table.optional<Number>("mtmlGpuGetMaxClock");
    mtml.temperature = table.optional<MtmlReturn(MtmlHandle, int*)>("mtmlGpuGetTemperature");
    OPGAUGE_TRY(table.check());
    return mtml;
}

}  // namespace

std::string Mtml::error(MtmlReturn code) const {
    const char* text = error_string == nullptr ? nullptr : error_string(code);
    return fmt::format("{} (MTML {})", text != nullptr ? text : "unknown error", code);
}

MtmlSession::MtmlSession(SharedLibrary library, const Mtml& mtml, MtmlHandle handle)
    : library_(std::move(library)), mtml_(mtml), handle_(handle) {}

MtmlSession::MtmlSession(MtmlSession&& other) noexcept
    : library_(std::move(other.library_)),
      mtml_(other.mtml_),
      handle_(std::exchange(other.handle_, nullptr)) {}

MtmlSession::~MtmlSession() {
    if (handle_ != nullptr) mtml_.shut_down(handle_);
}

Result<MtmlSession> MtmlSession::open(const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(SharedLibrary library, open_vendor_library(kSonames, kFolders, environment));
    OPGAUGE_TRY_ASSIGN(const Mtml mtml, load(library));
    MtmlHandle handle = nullptr;
    if (const MtmlReturn code = mtml.init(&handle); code != kMtmlSuccess) {
        return fail(ErrorKind::environment, "mtmlLibraryInit failed: " + mtml.error(code));
    }
    return MtmlSession(std::move(library), mtml, handle);
}

}  // namespace opgauge
