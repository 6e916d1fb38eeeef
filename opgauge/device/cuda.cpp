// SPDX-License-Identifier: Apache-2.0
// NVIDIA: NVML (cuda_library.cpp, cuda_telemetry.cpp), then nvidia-smi (cuda_tool.cpp).
#include "opgauge/base/text.h"
#include "opgauge/device/cuda_library.h"
#include "opgauge/device/cuda_tool.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "10de";

// The model without its MIG profile: instances of one GPU are of one model.
std::string_view model_of(const Device& device) {
    const std::string_view name = device.name;
    return name.substr(0, name.find(" MIG "));
}

// CUDA's own order (fastest first) is not NVML's (by PCI address) where models differ. A lost
// device has no model, and then nobody knows what CUDA counts.
bool order_is_unknown(const std::vector<Device>& devices) {
    return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
        return model_of(device) != model_of(devices.front());
    });
}

// A UUID's beginning names a device where it is the only one; MIG ids are taken whole.
bool names(const std::string& token, const Device& device) {
    if (!device.uuid) return false;
    return starts_with_ignoring_case(token, "MIG-")
               ? lower(token) == lower(*device.uuid)
               : starts_with_ignoring_case(*device.uuid, token);
}

class CudaBackend final : public Backend {
  public:
    std::string_view name() const override { return "cuda"; }
    std::vector<std::string_view> aliases() const override { return {"nvidia", "gpu", "nv"}; }
    bool accelerator() const override { return true; }
    std::set<Capability> capabilities() const override {
        return {all_capabilities().begin(), all_capabilities().end()};
    }
    std::string_view default_timer() const override { return "graph"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"CUDA_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override {
        return {"CUDA_LAUNCH_BLOCKING",   "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING",
                "CUDA_FORCE_PTX_JIT",     "NVIDIA_TF32_OVERRIDE",        "CUBLAS_WORKSPACE_CONFIG",
                "CUBLASLT_WORKSPACE_SIZE"};
    }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "cuda";
        if (!ask_nvml(environment, found)) ask_nvidia_smi(environment, found);
        if (found.devices.empty()) {
            if (auto seen = pci_presence(kPciVendor, environment)) found.reasons.push_back(*seen);
        }
        return found;
    }

    // nvidia-smi tells the limit with everything else.
    void complete(Device& device, const Environment& environment) const override {
        if (!device.power_limit_watts) complete_by_nvml(environment, device);
    }

    Result<std::unique_ptr<Telemetry>> open_telemetry(
        const Device& device, const Environment& environment) const override {
        return open_nvml_telemetry(environment, device);
    }

    Result<CallerMask> caller_mask(const Environment& environment) const override {
        const auto value = environment.get("CUDA_VISIBLE_DEVICES");
        if (!value) return CallerMask{};
        return read_mask("CUDA_VISIBLE_DEVICES", *value, rules());
    }

    Result<std::optional<Device>> device_of_token(const Discovery& discovery,
                                                  const CallerMask& mask, const std::string& token,
                                                  const Environment& environment) const override {
        const bool by_pci = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
        if (!token_index(token)) {
            std::vector<const Device*> found;
            for (const auto& device : discovery.devices) {
                if (names(token, device)) found.push_back(&device);
            }
            // The driver takes an ambiguous beginning for a device that is not there.
            return found.size() == 1 ? std::optional(*found[0]) : std::nullopt;
        }
        if (!by_pci && order_is_unknown(discovery.devices)) {
            return fail(
                ErrorKind::usage,
                fmt::format("{}={} is an index, the devices' models differ and CUDA's order "
                            "is not known; use UUIDs or set CUDA_DEVICE_ORDER=PCI_BUS_ID",
                            mask.variable, token));
        }
        return Backend::device_of_token(discovery, mask, token, environment);
    }

    Result<EnvironmentChanges> pin(const Environment& environment,
                                   const std::vector<std::string>& tokens) const override {
        EnvironmentChanges changes;
        changes["CUDA_VISIBLE_DEVICES"] = join(tokens, ",");
        // Our own indices come from NVML; a caller's keep the order that the caller has.
        const bool own_index = !environment.get("CUDA_VISIBLE_DEVICES") &&
                               std::any_of(tokens.begin(), tokens.end(), [](const auto& t) {
                                   return token_index(t).has_value();
                               });
        if (own_index && !environment.get("CUDA_DEVICE_ORDER")) {
            changes["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
        }
        return changes;
    }

  private:
    static MaskRules rules() {
        MaskRules rules;
        rules.numbers = MaskRules::Numbers::lenient;
        rules.id_prefixes = {"GPU-", "MIG-"};
        return rules;
    }
};

}  // namespace

const Backend& cuda_backend() {
    static const CudaBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
