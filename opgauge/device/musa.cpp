// SPDX-License-Identifier: Apache-2.0
// Moore Threads: MTML (mtml.cpp, musa_telemetry.cpp), then mthreads-gmi.
#include "opgauge/base/text.h"
#include "opgauge/device/mtml.h"
#include "opgauge/device/musa_tool.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "1ed5";

void add_memory(const Mtml& mtml, MtmlHandle handle, Device& device) {
    MtmlHandle memory = nullptr;
    if (mtml.init_memory == nullptr || mtml.init_memory(handle, &memory) != kMtmlSuccess) return;
    unsigned long long total = 0;
    unsigned long long used = 0;
    if (mtml.memory_total != nullptr && mtml.memory_total(memory, &total) == kMtmlSuccess &&
        total > 0) {
        device.memory_total_bytes = total;
        if (mtml.memory_used != nullptr && mtml.memory_used(memory, &used) == kMtmlSuccess) {
            device.memory_used_bytes = used;
            device.memory_free_bytes = total - std::min(total, used);
        }
    }
    if (mtml.free_memory != nullptr) mtml.free_memory(memory);
}

Device read_device(const Mtml& mtml, MtmlHandle handle, int index) {
    Device device;
    device.backend = "musa";
    device.index = index;
    // The runtime is documented with plain indices only: no UUID in a visibility variable.
    device.token = std::to_string(index);
    char name[32] = {};
    device.name =
        mtml.name(handle, name, sizeof name) == kMtmlSuccess ? from_buffer(name) : "unknown";
    char uuid[48] = {};
    if (mtml.uuid != nullptr && mtml.uuid(handle, uuid, sizeof uuid) == kMtmlSuccess) {
        device.uuid = from_buffer(uuid);
    }
    MtmlPciInfo pci{};
    if (mtml.pci != nullptr && mtml.pci(handle, &pci) == kMtmlSuccess) {
        device.pci_id = normal_pci_id(from_buffer(pci.sbdf));
    }
    add_memory(mtml, handle, device);
    device.health = Health::ok;
    return device;
}

void read_all(const Mtml& mtml, MtmlHandle library, Discovery& found) {
    MtmlHandle system = nullptr;
    char version[80] = {};
    if (mtml.init_system != nullptr && mtml.driver != nullptr &&
        mtml.init_system(library, &system) == kMtmlSuccess &&
        mtml.driver(system, version, sizeof version) == kMtmlSuccess) {
        found.driver = from_buffer(version);
    }
    unsigned count = 0;
    if (const MtmlReturn code = mtml.count(library, &count); code != kMtmlSuccess) {
        found.reasons.push_back("MTML cannot count devices: " + mtml.error(code));
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        MtmlHandle handle = nullptr;
        const MtmlReturn code = mtml.device(library, i, &handle);
        if (code == kMtmlSuccess) {
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
    const auto session = MtmlSession::open(environment);
    if (!session) {
        found.reasons.push_back(session.error().message);
        return false;
    }
    found.source = session->library_name();
    read_all(session->mtml(), session->handle(), found);
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

    Result<std::unique_ptr<Telemetry>> open_telemetry(
        const Device& device, const Environment& environment) const override {
        return open_mtml_telemetry(environment, device);
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
