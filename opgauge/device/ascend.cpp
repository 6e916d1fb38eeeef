// SPDX-License-Identifier: Apache-2.0
// Huawei Ascend: DCMI (dcmi.cpp, ascend_telemetry.cpp), then npu-smi.
#include "opgauge/base/text.h"
#include "opgauge/device/ascend_tool.h"
#include "opgauge/device/dcmi.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "19e5";
constexpr std::uint64_t kMebibyte = 1024 * 1024;

void add_health(const Dcmi& dcmi, const DcmiPlace& place, Device& device) {
    unsigned health = 0;
    if (dcmi.health == nullptr || dcmi.health(place.card, place.chip, &health) != 0) return;
    static constexpr std::array<const char*, 4> kWords = {"ok", "minor alarm", "major alarm",
                                                          "critical alarm"};
    if (health >= kWords.size()) {
        device.health = Health::unusable;
        device.health_detail = "the device does not answer";
        return;
    }
    // Cards with alarms below critical are in daily use.
    device.health = health == 0 ? Health::ok : health == 3 ? Health::unusable : Health::warning;
    if (health != 0) device.health_detail = kWords[health];
}

// A device's memory is its HBM; inference cards have none, and then it is their DDR.
void add_memory(const Dcmi& dcmi, const DcmiPlace& place, Device& device) {
    std::uint64_t total_mb = 0;
    std::uint64_t used_mb = 0;
    DcmiHbmInfo hbm{};
    DcmiMemoryInfo ddr{};
    if (dcmi.hbm != nullptr && dcmi.hbm(place.card, place.chip, &hbm) == 0 &&
        hbm.memory_size_mb > 0) {
        total_mb = hbm.memory_size_mb;
        used_mb = hbm.memory_usage_mb;
    } else if (dcmi.memory != nullptr && dcmi.memory(place.card, place.chip, &ddr) == 0 &&
               ddr.size_mb > 0) {
        total_mb = ddr.size_mb;
        used_mb = ddr.size_mb - std::min(ddr.size_mb, ddr.available_mb);
    } else {
        return;
    }
    device.memory_total_bytes = total_mb * kMebibyte;
    device.memory_used_bytes = used_mb * kMebibyte;
    device.memory_free_bytes = (total_mb - std::min(total_mb, used_mb)) * kMebibyte;
}

void add_place(const Dcmi& dcmi, const DcmiPlace& place, Device& device) {
    DcmiPcie pcie{};
    if (dcmi.pcie != nullptr && dcmi.pcie(place.card, place.chip, &pcie) == 0) {
        device.pci_id = fmt::format("{:04x}:{:02x}:{:02x}.{}", pcie.domain, pcie.bus, pcie.device,
                                    pcie.function);
    }
    const std::string die = dcmi_die_id(dcmi, place);
    if (!die.empty()) device.uuid = die;
}

Device read_device(const Dcmi& dcmi, const DcmiPlace& place) {
    Device device;
    device.backend = "ascend";
    device.index = place.logic;
    device.token = std::to_string(place.logic);
    device.name = "Ascend NPU";
    DcmiChipInfo info{};
    if (dcmi.chip != nullptr && dcmi.chip(place.card, place.chip, &info) == 0) {
        const std::string_view name(reinterpret_cast<const char*>(info.name), sizeof info.name);
        device.name = ascend_model(name.substr(0, name.find('\0')));
    }
    device.health = Health::unknown;
    add_health(dcmi, place, device);
    add_memory(dcmi, place, device);
    add_place(dcmi, place, device);
    device.processes_known = dcmi_processes(dcmi, place, device.processes) == 0;
    return device;
}

bool ask_library(const Environment& environment, Discovery& found) {
    const auto session = open_dcmi(environment);
    if (!session) {
        found.reasons.push_back(session.error().message);
        return false;
    }
    const Dcmi& dcmi = session->dcmi;
    found.source = session->library.name();
    char version[64] = {};
    if (dcmi.driver != nullptr && dcmi.driver(version, sizeof version) == 0) {
        found.driver = from_buffer(version);
    }
    for (const DcmiPlace& place : dcmi_npus(dcmi, found.reasons)) {
        found.devices.push_back(read_device(dcmi, place));
    }
    std::sort(found.devices.begin(), found.devices.end(),
              [](const Device& a, const Device& b) { return a.index < b.index; });
    return true;
}

class AscendBackend final : public Backend {
  public:
    std::string_view name() const override { return "ascend"; }
    std::vector<std::string_view> aliases() const override { return {"npu", "huawei", "cann"}; }
    bool accelerator() const override { return true; }
    // Graphs work on some series only and no public code shows a device-side sleep: neither is
    // claimed before it was seen.
    std::set<Capability> capabilities() const override {
        return {Capability::event_timing, Capability::l2_flush, Capability::fork_compile,
                Capability::telemetry};
    }
    std::string_view default_timer() const override { return "direct"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"ASCEND_RT_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override {
        return {"ASCEND_LAUNCH_BLOCKING", "TASK_QUEUE_ENABLE", "TRITON_BENCH_METHOD"};
    }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "ascend";
        if (!ask_library(environment, found)) ask_npu_smi(environment, found);
        if (found.devices.empty()) {
            if (auto seen = pci_presence(kPciVendor, environment)) found.reasons.push_back(*seen);
        }
        return found;
    }

    Result<std::unique_ptr<Telemetry>> open_telemetry(
        const Device& device, const Environment& environment) const override {
        return open_dcmi_telemetry(environment, device);
    }

    // ASCEND_VISIBLE_DEVICES is the container runtime's and holds host ids: it is no mask here.
    Result<CallerMask> caller_mask(const Environment& environment) const override {
        const auto value = environment.get("ASCEND_RT_VISIBLE_DEVICES");
        if (!value) return CallerMask{};
        MaskRules rules;
        rules.order = MaskRules::Order::ascending;
        return read_mask("ASCEND_RT_VISIBLE_DEVICES", *value, rules);
    }

    Result<EnvironmentChanges> pin(const Environment& /*environment*/,
                                   const std::vector<std::string>& tokens) const override {
        std::vector<std::string> sorted = tokens;
        std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
            return token_index(a) < token_index(b);
        });
        return EnvironmentChanges{{"ASCEND_RT_VISIBLE_DEVICES", join(sorted, ",")}};
    }
};

}  // namespace

const Backend& ascend_backend() {
    static const AscendBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
