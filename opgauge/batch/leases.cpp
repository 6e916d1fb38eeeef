// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/leases.h"

#include "opgauge/session/host_locks.h"

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

class HeldLeases final : public Leases {
  public:
    void add(DeviceLease lease) { leases_.push_back(std::move(lease)); }

  private:
    std::vector<DeviceLease> leases_;
};

}  // namespace

Result<std::unique_ptr<Leases>> take_leases(std::vector<Device> devices, const std::string& command,
                                            std::chrono::seconds wait,
                                            const Environment& environment) {
    std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
        return a.uuid.value_or(a.token) < b.uuid.value_or(b.token);
    });
    auto leases = std::make_unique<HeldLeases>();
    for (const auto& device : devices) {
        OPGAUGE_TRY_ASSIGN(auto lease, DeviceLease::take(device, command, wait, environment));
        leases->add(std::move(lease));
    }
    return leases;
}

}  // namespace opgauge
