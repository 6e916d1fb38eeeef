// SPDX-License-Identifier: Apache-2.0
// The table of plain nvidia-smi: for machines whose tool refuses the query form.
#include "opgauge/base/text.h"
#include "opgauge/device/cuda_tool.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <optional>

namespace opgauge {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    if (!line.starts_with("|")) return cells;
    for (const auto& cell : split(line.substr(1), '|')) cells.push_back(cell);
    if (!cells.empty()) cells.pop_back();  // behind the last bar
    return cells;
}

// "   0  NVIDIA GeForce RTX 2080 ...    Off": index, name, persistence mode.
std::optional<Device> first_line(const std::vector<std::string>& cells) {
    if (cells.size() != 3) return std::nullopt;
    const auto text = trim(cells[0]);
    const auto blank = text.find(' ');
    const auto index = parse_unsigned(text.substr(0, blank));
    if (!index || blank == std::string_view::npos) return std::nullopt;
    auto name = trim(text.substr(blank));
    const auto last = name.find_last_of(' ');
    name = trim(name.substr(0, last));
    Device device;
    device.backend = "cuda";
    device.index = static_cast<int>(*index);
    device.token = std::to_string(*index);
    device.name = name;
    device.health = Health::ok;
    const auto bus = trim(cells[1]);
    if (bus.find(':') != std::string_view::npos) {
        device.pci_id = normal_pci_id(bus.substr(0, bus.find(' ')));
    }
    return device;
}

// "58%   87C    P1            299W /  300W" | "88450MiB /  97887MiB" | "100%      Default".
void second_line(const std::vector<std::string>& cells, Device& device) {
    if (cells.size() != 3) return;
    if (const auto memory = used_and_total(cells[1])) {
        set_memory_mib(device, memory->total, memory->used);
    }
    device.utilization_percent = leading_number(cells[2]);
    if (cells[0].find("ERR!") != std::string::npos) {
        device.health = Health::unusable;
        device.health_detail = "ERR! in the table";
    }
}

}  // namespace

Result<std::vector<Device>> parse_nvidia_smi_table(std::string_view text) {
    std::vector<Device> devices;
    bool second = false;
    for (const auto line : lines_of(text)) {
        if (line.find("Processes:") != std::string_view::npos) break;
        const auto cells = cells_of(line);
        if (second) {
            second_line(cells, devices.back());
            second = false;
        } else if (auto device = first_line(cells)) {
            devices.push_back(std::move(*device));
            second = true;
        }
    }
    if (devices.empty()) {
        return fail(ErrorKind::environment,
                    nvidia_smi_error(text).value_or("no device in the table"));
    }
    return devices;
}

}  // namespace opgauge
