// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/exclusive.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

Result<void> check_unused(const Device& device, const std::string& token, const Plan& plan) {
    if (!device.processes_known) {
        return fail(
            ErrorKind::refused,
            fmt::format("--exclusive: {} does not tell which processes use device {}; leave "
                        "it out",
                        plan.discovery.source, token));
    }
    if (device.processes.empty()) return {};
    const DeviceProcess& first = device.processes.front();
    return fail(ErrorKind::refused,
                fmt::format("--exclusive: device {} is used by {} other processes, the first is {} "
                            "({}); wait for them or choose another device",
                            token, device.processes.size(), first.pid,
                            first.name.empty() ? "name unknown" : printable(first.name)));
}

}  // namespace

Result<void> check_exclusive(const Plan& plan) {
    OPGAUGE_TRY(check_unused(plan.device.device, plan.device.device.token, plan));
    for (const auto& shard : plan.warmup.shards) {
        OPGAUGE_TRY(check_unused(shard.device, shard.device.token, plan));
    }
    return {};
}

}  // namespace opgauge
