// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/planned_device.h"

namespace opgauge {

Json planned_device(const SelectedDevice& selected) {
    return {{"token", selected.token},
            {"uuid", optional_json(selected.device.uuid)},
            {"pci_id", optional_json(selected.device.pci_id)},
            {"name", selected.device.name}};
}

}  // namespace opgauge
