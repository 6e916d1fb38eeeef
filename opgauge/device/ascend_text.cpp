// SPDX-License-Identifier: Apache-2.0
// npu-smi's other listings: the map of chips (-m), the list of cards (-l) and facts by chip (-t).
#include "opgauge/base/text.h"
#include "opgauge/device/ascend_tool.h"
#include "opgauge/device/tool_text.h"

#include <algorithm>
#include <map>
#include <optional>

namespace opgauge {
namespace {

constexpr double kMostChips = 64;  // of one card; more is no count

Device new_device(int rank) {
    Device device = numbered_device("ascend", rank);
    device.name = "Ascend NPU";
    device.health = Health::unknown;
    return device;
}

// Columns are separated by at least two blanks; titles and names have single ones inside.
std::vector<std::string> columns_of(std::string_view line) {
    std::vector<std::string> columns;
    std::string cell;
    int blanks = 0;
    for (const char c : trim(line)) {
        if (c == ' ' || c == '\t') {
            ++blanks;
            continue;
        }
        if (blanks > 1) {
            columns.push_back(cell);
            cell.clear();
        } else if (blanks == 1) {
            cell.push_back(' ');
        }
        blanks = 0;
        cell.push_back(c);
    }
    columns.push_back(cell);
    return columns;
}

std::optional<std::size_t> position(const std::vector<std::string>& titles,
                                    std::string_view title) {
    const auto found = std::find(titles.begin(), titles.end(), title);
    if (found == titles.end()) return std::nullopt;
    return static_cast<std::size_t>(found - titles.begin());
}

using Block = std::map<std::string, std::string, std::less<>>;

// Blocks are separated by blank lines; an empty one is none.
std::vector<Block> blocks_of(std::string_view text) {
    std::vector<Block> blocks(1);
    for (const auto line : lines_of(text)) {
        const auto colon = line.find(':');
        if (trim(line).empty()) {
            if (!blocks.back().empty()) blocks.emplace_back();
        } else if (colon != std::string_view::npos) {
            blocks.back()[std::string(trim(line.substr(0, colon)))] =
                std::string(trim(line.substr(colon + 1)));
        }
    }
    if (blocks.back().empty()) blocks.pop_back();
    return blocks;
}

std::optional<double> number(const Block& block, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
        const auto found = block.find(key);
        if (found == block.end()) continue;
        if (const auto value = leading_number(found->second)) return value;
    }
    return std::nullopt;
}

bool is_controller(const Block& block) {
    const auto name = block.find("Chip Name");
    return name != block.end() && lower(name->second) == "mcu";
}

void describe(const Block& block, Device& device) {
    // A device's memory is its HBM where it has any.
    set_memory_mib(device,
                   number(block, {"HBM Capacity(MB)", "Memory Capacity(MB)", "DDR Capacity(MB)"}),
                   std::nullopt);
    device.temperature_celsius = number(block, {"Temperature(C)"});
    const auto health = block.find("Health");
    if (health == block.end()) return;
    device.health = health->second == "OK"         ? Health::ok
                    : health->second == "Critical" ? Health::unusable
                                                   : Health::warning;
    if (device.health != Health::ok) device.health_detail = health->second;
}

}  // namespace

Result<std::vector<Device>> parse_npu_smi_map(std::string_view text) {
    std::vector<std::string> titles;
    std::vector<Device> devices;
    for (const auto line : lines_of(text)) {
        if (trim(line).empty()) continue;
        const auto cells = columns_of(line);
        if (!cells.empty() && cells[0] == "NPU ID") {
            titles = cells;
            continue;
        }
        auto logic = position(titles, "Chip Logic ID");
        if (!logic) logic = position(titles, "Chip Phy-ID");
        const auto name = position(titles, "Chip Name");
        if (!logic || !name || cells.size() <= std::max(*logic, *name)) continue;
        const auto rank = small_index(cells[*logic]);
        if (!rank || lower(cells[*name]) == "mcu") continue;
        Device device = new_device(*rank);
        device.name = cells[*name];
        devices.push_back(std::move(device));
    }
    if (devices.empty()) return fail(ErrorKind::environment, "npu-smi info -m lists no chip");
    std::sort(devices.begin(), devices.end(),
              [](const Device& a, const Device& b) { return a.index < b.index; });
    return devices;
}

Result<std::vector<Device>> parse_npu_smi_blocks(std::string_view text) {
    std::vector<Device> devices;
    double chips = 0;
    for (const auto& block : blocks_of(text)) {
        chips += std::min(number(block, {"Chip Count"}).value_or(0), kMostChips);
        // -t: a block that has a chip's number; where it stands in the block changes by version.
        if (!block.contains("Chip ID") || is_controller(block)) continue;
        Device device = new_device(static_cast<int>(devices.size()));
        describe(block, device);
        devices.push_back(std::move(device));
    }
    // -l: cards with their number of chips and nothing of these.
    for (int i = static_cast<int>(devices.size()); i < static_cast<int>(chips); ++i) {
        devices.push_back(new_device(i));
    }
    if (devices.empty()) return fail(ErrorKind::environment, "npu-smi lists no chip");
    return devices;
}

}  // namespace opgauge
