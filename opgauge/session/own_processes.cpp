// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/own_processes.h"

#include "opgauge/base/process.h"

#include <algorithm>

namespace opgauge {

std::vector<DeviceProcess> strangers(std::vector<DeviceProcess> processes,
                                     const OwnProcesses& own) {
    const auto seen = std::erase_if(processes, [&](const DeviceProcess& process) {
        return is_descendant(process.pid, own.root);
    });
    int hidden = seen == 0 ? own.hidden : 0;
    std::erase_if(processes, [&](const DeviceProcess& process) {
        const bool earlier =
            std::find(own.earlier.begin(), own.earlier.end(), process.pid) != own.earlier.end();
        return process.name.empty() && !earlier && hidden-- > 0;
    });
    return processes;
}

}  // namespace opgauge
