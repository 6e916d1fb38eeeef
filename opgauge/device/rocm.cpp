// SPDX-License-Identifier: Apache-2.0
// AMD: libamd_smi, then librocm_smi64, then amd-smi and rocm-smi. Only functions with scalar or
// string results are used: the structs of libamd_smi changed their layout with nearly every
// release.
#include "opgauge/base/text.h"
#include "opgauge/device/rocm_library.h"
#include "opgauge/device/rocm_tool.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "1002";

MaskRules rocr_rules() {
    MaskRules rules;
    rules.id_prefixes = {"GPU-"};
    return rules;
}

// The id by which the runtime's lists take a device: GPU-<16 digits>. The management library spells
// the same number XXff74a1-0000-1000-80YY-ZZZZZZZZZZZZ, GPU-XXYYZZZZZZZZZZZZ; consumer boards have
// no number of their own there, and then only an index names them.
std::string runtime_id(const Device& device) {
    const std::string uuid = lower(device.uuid.value_or(""));
    if (uuid.starts_with("gpu-")) return uuid;
    const auto parts = split(uuid, '-');
    if (parts.size() != 5 || parts[0].size() != 8 || parts[3].size() != 4 || parts[4].size() != 12)
        return {};
    const std::string number = parts[3].substr(2) + parts[4];
    if (number.find_first_not_of('0') == std::string::npos) return {};
    return "gpu-" + parts[0].substr(0, 2) + number;
}

std::optional<Device> device_with_id(const std::vector<Device>& devices, const std::string& token) {
    for (const auto& device : devices) {
        if (runtime_id(device).starts_with(lower(token))) return device;
    }
    return std::nullopt;
}

class RocmBackend final : public Backend {
  public:
    std::string_view name() const override { return "rocm"; }
    std::vector<std::string_view> aliases() const override { return {"hip", "amd", "amdgpu"}; }
    bool accelerator() const override { return true; }
    // Clusters of thread blocks are another vendor's; the rest exists under torch's HIP build.
    std::set<Capability> capabilities() const override {
        return {Capability::graph_capture, Capability::event_timing, Capability::device_hold,
                Capability::l2_flush,      Capability::fork_compile, Capability::telemetry};
    }
    std::string_view default_timer() const override { return "direct"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override {
        return {"HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL", "HSA_ENABLE_SDMA",
                "GPU_MAX_HW_QUEUES"};
    }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "rocm";
        if (!ask_amd_smi_library(environment, found) && !ask_rocm_smi_library(environment, found)) {
            ask_amd_tools(environment, found);
        }
        if (found.devices.empty()) {
            if (auto seen = pci_presence(kPciVendor, environment)) found.reasons.push_back(*seen);
        }
        return found;
    }

    Result<std::unique_ptr<Telemetry>> open_telemetry(
        const Device& device, const Environment& environment) const override {
        return open_rocm_telemetry(environment, device);
    }

    // The innermost layer in force: HIP's own, else CUDA_VISIBLE_DEVICES (which HIP obeys where its
    // own is unset), else ROCr's. A HIP value that is set and empty hides all for torch: refused.
    Result<CallerMask> caller_mask(const Environment& environment) const override {
        if (const auto outer = environment.get("ROCR_VISIBLE_DEVICES")) {
            OPGAUGE_TRY_ASSIGN(CallerMask mask,
                               read_mask("ROCR_VISIBLE_DEVICES", *outer, rocr_rules()));
            if (mask.hides_all) return mask;
        }
        for (const char* variable :
             {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}) {
            const auto value = environment.get(variable);
            if (value) return read_mask(variable, *value, rocr_rules());
        }
        return CallerMask{};
    }

    // An inner index counts within the outer list; an inner id must be in it.
    Result<std::optional<Device>> device_of_token(const Discovery& discovery,
                                                  const CallerMask& mask, const std::string& token,
                                                  const Environment& environment) const override {
        OPGAUGE_TRY_ASSIGN(const auto world, below(discovery.devices, mask, environment));
        const auto index = token_index(token);
        if (!index) return device_with_id(world, token);
        for (std::size_t i = 0; i < world.size(); ++i) {
            // Without an outer list the runtime's own numbers count; devices may be missing here.
            const bool outer = mask.variable != kOuter && environment.get(kOuter).has_value();
            const int number = outer ? static_cast<int>(i) : world[i].index;
            if (number == *index) return std::optional(world[i]);
        }
        return std::optional<Device>();
    }

    // Never a second layer: host ids in both lists leave no device.
    Result<EnvironmentChanges> pin(const Environment& environment,
                                   const std::vector<std::string>& tokens) const override {
        const std::string list = join(tokens, ",");
        if (environment.get("HIP_VISIBLE_DEVICES")) {
            return EnvironmentChanges{{"HIP_VISIBLE_DEVICES", list}};
        }
        if (environment.get("CUDA_VISIBLE_DEVICES")) {
            // HIP obeys this one only while its own is unset, torch reads either: keep them equal.
            return EnvironmentChanges{{"HIP_VISIBLE_DEVICES", list},
                                      {"CUDA_VISIBLE_DEVICES", list}};
        }
        if (environment.get("ROCR_VISIBLE_DEVICES")) {
            return EnvironmentChanges{{"ROCR_VISIBLE_DEVICES", list}};
        }
        return EnvironmentChanges{{"HIP_VISIBLE_DEVICES", list}};
    }

  private:
    static constexpr const char* kOuter = "ROCR_VISIBLE_DEVICES";

    // The devices among which the mask's tokens choose: all, or what the outer list leaves.
    static Result<std::vector<Device>> below(const std::vector<Device>& all, const CallerMask& mask,
                                             const Environment& environment) {
        const auto outer = environment.get(kOuter);
        if (!outer || mask.variable == kOuter) return all;
        OPGAUGE_TRY_ASSIGN(const CallerMask list, read_mask(kOuter, *outer, rocr_rules()));
        std::vector<Device> left;
        for (const auto& token : list.tokens) {
            const auto index = token_index(token);
            auto device = index ? std::optional<Device>() : device_with_id(all, token);
            for (const auto& candidate : all) {
                if (index && candidate.index == *index) device = candidate;
            }
            if (!device) break;  // the runtime reads no further
            left.push_back(*device);
        }
        return left;
    }
};

}  // namespace

const Backend& rocm_backend() {
    static const RocmBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
