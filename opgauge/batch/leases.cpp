// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/leases.h"

#include <algorithm>

namespace opgauge {
namespace {

class HeldLeases final : public Leases {};

}  // namespace

// Each device of the sorted list is to be taken here with DeviceLease::take (session/host_locks.h).
Result<std::unique_ptr<Leases>> take_leases(std::vector<Device> devices,
                                            const std::string& /*command*/,
                                            std::chrono::seconds /*wait*/,
                                            const Environment& /*environment*/) {
    std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
        return a.uuid.value_or(a.token) < b.uuid.value_or(b.token);
    });
    return std::make_unique<HeldLeases>();
}

}  // namespace opgauge
