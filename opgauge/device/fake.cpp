// SPDX-License-Identifier: Apache-2.0
// The hidden backend for tests: devices and capabilities come from variables
// (docs/fake_backend.md).
#include "opgauge/base/json.h"
#include "opgauge/base/text.h"
#include "opgauge/device/fake_telemetry.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <algorithm>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kDefaultDevices =
    R"([{"name":"Fake Accelerator","uuid":"FAKE-0000","memory_total_bytes":17179869184}])";

Device device_of(const Json& entry, int index) {
    Device device;
    device.backend = "fake";
    device.index = get_optional<int>(entry, "index").value_or(index);
    device.name = get_string(entry, "name", "Fake Accelerator");
    device.uuid = get_optional<std::string>(entry, "uuid");
    device.pci_id = get_optional<std::string>(entry, "pci_id");
    device.memory_total_bytes = get_optional<std::uint64_t>(entry, "memory_total_bytes");
    device.token = device.uuid.value_or(std::to_string(device.index));
    const std::string detail = get_string(entry, "unusable");
    device.health = detail.empty() ? Health::ok : Health::unusable;
    device.health_detail = detail;
    device.processes_known = true;
    for (const long long pid :
         get_optional<std::vector<long long>>(entry, "pids").value_or(std::vector<long long>{})) {
        device.processes.push_back({pid, "other", std::nullopt});
    }
    return device;
}

class FakeBackend final : public Backend {
  public:
    std::string_view name() const override { return "fake"; }
    std::vector<std::string_view> aliases() const override { return {}; }
    bool hidden() const override { return true; }
    bool accelerator() const override { return true; }
    // All, or those that OPGAUGE_FAKE_CAPABILITIES names. Capabilities have no environment to ask,
    // so this is the process's own.
    std::set<Capability> capabilities() const override {
        const auto names = Environment::of_this_process().get("OPGAUGE_FAKE_CAPABILITIES");
        std::set<Capability> offered;
        for (const Capability capability : all_capabilities()) {
            const auto list = split(names.value_or(""), ',');
            const bool named =
                std::find(list.begin(), list.end(), name_of(capability)) != list.end();
            if (!names || named) offered.insert(capability);
        }
        return offered;
    }
    std::string_view default_timer() const override { return "host"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"FAKE_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override { return {}; }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "fake";
        const auto text =
            environment.get("OPGAUGE_FAKE_DEVICES").value_or(std::string(kDefaultDevices));
        const auto list = parse_json(text, "OPGAUGE_FAKE_DEVICES");
        if (!list || !list->is_array()) {
            found.reasons.push_back(list ? "OPGAUGE_FAKE_DEVICES is not a list"
                                         : list.error().message);
            return found;
        }
        for (const auto& entry : *list) {
            found.devices.push_back(device_of(entry, static_cast<int>(found.devices.size())));
        }
        found.source = "OPGAUGE_FAKE_DEVICES";
        found.driver = "1.0";
        if (found.devices.empty()) found.reasons.emplace_back("OPGAUGE_FAKE_DEVICES is empty");
        return found;
    }

    void complete(Device& device, const Environment& environment) const override {
        const auto list = parse_json(
            environment.get("OPGAUGE_FAKE_DEVICES").value_or(std::string(kDefaultDevices)), "");
        if (!list || !list->is_array()) return;
        int position = 0;
        for (const auto& entry : *list) {
            if (device_of(entry, position++).index != device.index) continue;
            device.power_limit_watts = get_optional<double>(entry, "power_limit_watts");
        }
    }

    Result<std::unique_ptr<Telemetry>> open_telemetry(
        const Device& device, const Environment& environment) const override {
        if (!capabilities().contains(Capability::telemetry)) {
            return Backend::open_telemetry(device, environment);
        }
        return open_fake_telemetry(device, environment);
    }

    Result<CallerMask> caller_mask(const Environment& environment) const override {
        const auto value = environment.get("FAKE_VISIBLE_DEVICES");
        if (!value) return CallerMask{};
        MaskRules rules;
        rules.id_prefixes = {"FAKE-"};
        return read_mask("FAKE_VISIBLE_DEVICES", *value, rules);
    }

    Result<EnvironmentChanges> pin(const Environment& /*environment*/,
                                   const std::vector<std::string>& tokens) const override {
        return EnvironmentChanges{{"FAKE_VISIBLE_DEVICES", join(tokens, ",")}};
    }
};

}  // namespace

const Backend& fake_backend() {
    static const FakeBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
