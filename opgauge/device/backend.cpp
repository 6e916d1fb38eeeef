// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/backend.h"

#include "opgauge/base/text.h"
#include "opgauge/device/telemetry.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <stdexcept>

namespace opgauge {

std::string_view name_of(Health health) {
    switch (health) {
        case Health::ok:
            return "ok";
        case Health::warning:
            return "warning";
        case Health::unusable:
            return "unusable";
        case Health::unknown:
            return "unknown";
    }
    return "unknown";
}

std::string_view name_of(Capability capability) {
    switch (capability) {
        case Capability::graph_capture:
            return "graph_capture";
        case Capability::thread_block_clusters:
            return "thread_block_clusters";
        case Capability::event_timing:
            return "event_timing";
        case Capability::device_hold:
            return "device_hold";
        case Capability::l2_flush:
            return "l2_flush";
        case Capability::fork_compile:
            return "fork_compile";
        case Capability::telemetry:
            return "telemetry";
    }
    throw std::logic_error("a capability without a name");
}

const std::vector<Capability>& all_capabilities() {
    static const std::vector<Capability> kAll = {
        Capability::graph_capture, Capability::thread_block_clusters,
        Capability::event_timing,  Capability::device_hold,
        Capability::l2_flush,      Capability::fork_compile,
        Capability::telemetry};
    return kAll;
}

void Backend::complete(Device& /*device*/, const Environment& /*environment*/) const {}

Result<std::unique_ptr<Telemetry>> Backend::open_telemetry(
    const Device& /*device*/, const Environment& /*environment*/) const {
    return fail(ErrorKind::refused, fmt::format("backend {} has no telemetry", name()));
}

Result<HealthReading> Telemetry::health() {
    return fail(ErrorKind::refused, "the library tells nothing of the device's health");
}

Result<std::optional<Device>> Backend::device_of_token(const Discovery& discovery,
                                                       const CallerMask& /*mask*/,
                                                       const std::string& token,
                                                       const Environment& /*environment*/) const {
    const auto index = token_index(token);
    for (const auto& device : discovery.devices) {
        if (index ? device.index == *index
                  : (device.uuid && starts_with_ignoring_case(*device.uuid, token)) ||
                        starts_with_ignoring_case(device.token, token)) {
            return std::optional(device);
        }
    }
    return std::optional<Device>();
}

}  // namespace opgauge
