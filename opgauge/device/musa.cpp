// SPDX-License-Identifier: Apache-2.0
// Moore Threads: MTML, then mthreads-gmi. The ABI below is declared from mtml.h 2.2.0.
#include "opgauge/base/text.h"
#include "opgauge/device/musa_tool.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "1ed5";
constexpr std::array<std::string_view, 2> kSonames = {"libmtml.so", "libmtml.so.1"};
constexpr std::array<std::string_view, 2> kFolders = {"/usr/lib/x86_64-linux-gnu",
                                                      "/usr/local/musa/lib"};

using Handle = void*;
using MtmlReturn = int;
constexpr MtmlReturn kSuccess = 0;

struct MtmlPciInfo {
    char sbdf[32];
    unsigned segment, bus, device, pci_device_id, pci_subsystem_id, bus_width;
    float max_speed, current_speed;
    unsigned max_width, current_width, max_generation, current_generation;
    int reserved[6];
};

struct Mtml {
    MtmlReturn (*init)(Handle*);
    MtmlReturn (*shut_down)(Handle);
    const char* (*error_string)(MtmlReturn);
    MtmlReturn (*count)(Handle, unsigned*);
    MtmlReturn (*device)(Handle, unsigned, Handle*);
    MtmlReturn (*name)(Handle, char*, unsigned);
    // Optional from here on.
    MtmlReturn (*free_device)(Handle);
    MtmlReturn (*uuid)(Handle, char*, unsigned);
    MtmlReturn (*pci)(Handle, MtmlPciInfo*);
    MtmlReturn (*init_system)(Handle, Handle*);
    MtmlReturn (*driver)(Handle, char*, unsigned);
    MtmlReturn (*init_memory)(Handle, Handle*);
    MtmlReturn (*free_memory)(Handle);
    MtmlReturn (*memory_total)(Handle, unsigned long long*);
    MtmlReturn (*memory_used)(Handle, unsigned long long*);

    std::string error(MtmlReturn code) const {
        const char* text = error_string == nullptr ? nullptr : error_string(code);
        return fmt::format("{} (MTML {})", text != nullptr ? text : "unknown error", code);
    }
};

Result<Mtml> load(const SharedLibrary& library) {
    SymbolTable table(library);
    Mtml mtml{};
    using DeviceText = MtmlReturn(Handle, char*, unsigned);
    using Amount = MtmlReturn(Handle, unsigned long long*);
    mtml.init = table.required<MtmlReturn(Handle*)>("mtmlLibraryInit");
    mtml.shut_down = table.required<MtmlReturn(Handle)>("mtmlLibraryShutDown");
    mtml.count = table.required<MtmlReturn(Handle, unsigned*)>("mtmlLibraryCountDevice");
    mtml.device =
        table.required<MtmlReturn(Handle, unsigned, Handle*)>("mtmlLibraryInitDeviceByIndex");
    mtml.name = table.required<DeviceText>("mtmlDeviceGetName");
    mtml.error_string = table.optional<const char*(MtmlReturn)>("mtmlErrorString");
    mtml.free_device = table.optional<MtmlReturn(Handle)>("mtmlLibraryFreeDevice");
    mtml.uuid = table.optional<DeviceText>("mtmlDeviceGetUUID");
    mtml.pci = table.optional<MtmlReturn(Handle, MtmlPciInfo*)>("mtmlDeviceGetPciInfo");
    mtml.init_system = table.optional<MtmlReturn(Handle, Handle*)>("mtmlLibraryInitSystem");
    mtml.driver = table.optional<DeviceText>("mtmlSystemGetDriverVersion");
    mtml.init_memory = table.optional<MtmlReturn(Handle, Handle*)>("mtmlDeviceInitMemory");
    mtml.free_memory = table.optional<MtmlReturn(Handle)>("mtmlDeviceFreeMemory");
    mtml.memory_total = table.optional<Amount>("mtmlMemoryGetTotal");
    mtml.memory_used = table.optional<Amount>("mtmlMemoryGetUsed");
    OPGAUGE_TRY(table.check());
    return mtml;
}

void add_memory(const Mtml& mtml, Handle handle, Device& device) {
    Handle memory = nullptr;
    if (mtml.init_memory == nullptr || mtml.init_memory(handle, &memory) != kSuccess) return;
    unsigned long long total = 0;
    unsigned long long used = 0;
    if (mtml.memory_total != nullptr && mtml.memory_total(memory, &total) == kSuccess &&
        total > 0) {
        device.memory_total_bytes = total;
        if (mtml.memory_used != nullptr && mtml.memory_used(memory, &used) == kSuccess) {
            device.memory_used_bytes = used;
            device.memory_free_bytes = total - std::min(total, used);
        }
    }
    if (mtml.free_memory != nullptr) mtml.free_memory(memory);
}

Device read_device(const Mtml& mtml, Handle handle, int index) {
    Device device;
    device.backend = "musa";
    device.index = index;
    // The runtime is documented with plain indices only: no UUID in a visibility variable.
    device.token = std::to_string(index);
    char name[32] = {};
    device.name = mtml.name(handle, name, sizeof name) == kSuccess ? from_buffer(name) : "unknown";
    char uuid[48] = {};
    if (mtml.uuid != nullptr && mtml.uuid(handle, uuid, sizeof uuid) == kSuccess) {
        device.uuid = from_buffer(uuid);
    }
    MtmlPciInfo pci{};
    if (mtml.pci != nullptr && mtml.pci(handle, &pci) == kSuccess) {
        device.pci_id = normal_pci_id(from_buffer(pci.sbdf));
    }
    add_memory(mtml, handle, device);
    device.health = Health::ok;
    return device;
}

void read_all(const Mtml& mtml, Handle library, Discovery& found) {
    Handle system = nullptr;
    char version[80] = {};
    if (mtml.init_system != nullptr && mtml.driver != nullptr &&
        mtml.init_system(library, &system) == kSuccess &&
        mtml.driver(system, version, sizeof version) == kSuccess) {
        found.driver = from_buffer(version);
    }
    unsigned count = 0;
    if (const MtmlReturn code = mtml.count(library, &count); code != kSuccess) {
        found.reasons.push_back("MTML cannot count devices: " + mtml.error(code));
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        Handle handle = nullptr;
        const MtmlReturn code = mtml.device(library, i, &handle);
        if (code == kSuccess) {
            found.devices.push_back(read_device(mtml, handle, static_cast<int>(i)));
            if (mtml.free_device != nullptr) mtml.free_device(handle);
            continue;
        }
        Device broken;
        broken.backend = "musa";
        broken.index = static_cast<int>(i);
        broken.token = std::to_string(i);
        broken.name = "unknown";
        broken.health = Health::unusable;
        broken.health_detail = mtml.error(code);
        found.devices.push_back(std::move(broken));
    }
    if (found.devices.empty()) found.reasons.emplace_back("the driver works and has no device");
}

bool ask_library(const Environment& environment, Discovery& found) {
    const auto library = open_vendor_library(kSonames, kFolders, environment);
    if (!library) {
        found.reasons.push_back(library.error().message);
        return false;
    }
    const auto mtml = load(*library);
    if (!mtml) {
        found.reasons.push_back(mtml.error().message);
        return false;
    }
    Handle handle = nullptr;
    if (const MtmlReturn code = mtml->init(&handle); code != kSuccess) {
        found.reasons.push_back("mtmlLibraryInit failed: " + mtml->error(code));
        return false;
    }
    found.source = library->name();
    read_all(*mtml, handle, found);
    mtml->shut_down(handle);
    return true;
}

class MusaBackend final : public Backend {
  public:
    std::string_view name() const override { return "musa"; }
    std::vector<std::string_view> aliases() const override {
        return {"mthreads", "moorethreads", "mt"};
    }
    bool accelerator() const override { return true; }
    // Graphs exist on newer parts only (torch_musa skips them below architecture 22) and no public
    // code shows a device-side sleep: neither is claimed before it was seen.
    std::set<Capability> capabilities() const override {
        return {Capability::event_timing, Capability::l2_flush, Capability::fork_compile,
                Capability::telemetry};
    }
    std::string_view default_timer() const override { return "direct"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"MUSA_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override {
        return {"MUSA_LAUNCH_BLOCKING", "MUSA_EXECUTION_TIMEOUT"};
    }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "musa";
        if (!ask_library(environment, found)) ask_mthreads_gmi(environment, found);
        if (found.devices.empty()) {
            if (auto seen = pci_presence(kPciVendor, environment)) found.reasons.push_back(*seen);
        }
        return found;
    }

    Result<CallerMask> caller_mask(const Environment& environment) const override {
        const auto value = environment.get("MUSA_VISIBLE_DEVICES");
        if (!value) return CallerMask{};
        return read_mask("MUSA_VISIBLE_DEVICES", *value, MaskRules{});
    }

    Result<EnvironmentChanges> pin(const Environment& /*environment*/,
                                   const std::vector<std::string>& tokens) const override {
        return EnvironmentChanges{{"MUSA_VISIBLE_DEVICES", join(tokens, ",")}};
    }
};

}  // namespace

const Backend& musa_backend() {
    static const MusaBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
