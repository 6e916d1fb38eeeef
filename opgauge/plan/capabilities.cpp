// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/capabilities.h"

#include "opgauge/device/backend.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

// The Python module through which the bridge uses a capability; empty: it needs none.
std::string module_of(Capability capability) {
    switch (capability) {
        case Capability::graph_capture:
        case Capability::event_timing:
        case Capability::device_hold:
        case Capability::l2_flush:
            return "torch";
        case Capability::thread_block_clusters:
        case Capability::fork_compile:
            return "triton";
        case Capability::telemetry:
            return {};
    }
    return {};
}

}  // namespace

void narrow_to_modules(Plan& plan, const std::set<std::string>& modules,
                       const std::string& python) {
    for (const Capability capability : all_capabilities()) {
        const auto shown = plan.capabilities.find(std::string(name_of(capability)));
        const std::string module = module_of(capability);
        if (shown == plan.capabilities.end() || shown->second != "yes" || module.empty()) continue;
        if (!modules.contains(module)) shown->second = fmt::format("{} has no {}", python, module);
    }
}

void leave_capabilities_open(Plan& plan, const std::string& why) {
    for (const Capability capability : all_capabilities()) {
        const auto shown = plan.capabilities.find(std::string(name_of(capability)));
        if (shown == plan.capabilities.end() || shown->second != "yes") continue;
        if (!module_of(capability).empty()) shown->second = "unknown: " + why;
    }
}

}  // namespace opgauge
