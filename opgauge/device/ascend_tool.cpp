// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/ascend_tool.h"

#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kDeadline{10'000};
constexpr unsigned long long kHighestPid = 1ULL << 31U;

// A chip with the ids that the table prints; the runtime's number is its rank.
struct Chip {
    unsigned long long npu = 0;
    unsigned long long chip = 0;
    Device device;
};

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const auto& word : split(text, ' ')) {
        if (!word.empty()) words.push_back(word);
    }
    return words;
}

// "| a | b | c |" -> cells; empty for rules and other lines.
std::vector<std::string> cells_of(std::string_view line) {
    if (!line.starts_with("|")) return {};
    std::vector<std::string> cells;
    for (const auto& cell : split(line.substr(1), '|')) cells.emplace_back(trim(cell));
    if (!cells.empty() && cells.back().empty()) cells.pop_back();
    return cells;
}

void set_health(Device& device, const std::string& word) {
    device.health_detail = word == "OK" ? "" : word;
    if (word == "OK") {
        device.health = Health::ok;
    } else if (word == "Warning" || word == "Alarm") {
        device.health = Health::warning;  // such cards are in daily use
    } else if (word == "Critical") {
        device.health = Health::unusable;
    } else {
        device.health = Health::unknown;
    }
}

// First line of a chip: "| 0     910B2C | OK | 93.9  41  0 / 0 |".
std::optional<Chip> first_line(const std::vector<std::string>& cells) {
    if (cells.size() < 3) return std::nullopt;
    const auto words = words_of(cells[0]);
    const auto npu = words.size() >= 2 ? parse_unsigned(words[0]) : std::nullopt;
    // A process row has a number where a card has its model's name and health a word.
    if (!npu || parse_unsigned(cells[1]) || cells[1].empty()) return std::nullopt;
    Chip chip;
    chip.npu = *npu;
    chip.device.backend = "ascend";
    chip.device.name = words[1];
    set_health(chip.device, cells[1]);
    return chip;
}

// Second line: "| 0 | 0000:66:00.0 | 0   0 / 0   3410 / 65536 |". Where both DDR and HBM are
// printed, the device's memory is the last pair with a total.
void second_line(const std::vector<std::string>& cells, Chip& chip) {
    const auto words = words_of(cells[0]);
    chip.chip = words.empty() ? 0 : parse_unsigned(words[0]).value_or(0);
    if (cells[1] != "NA" && cells[1].find(':') != std::string::npos) {
        chip.device.pci_id = normal_pci_id(cells[1]);
    }
    const std::string& amounts = cells[2];
    for (auto slash = amounts.find('/'); slash != std::string::npos;
         slash = amounts.find('/', slash + 1)) {
        const auto left = trim(std::string_view(amounts).substr(0, slash));
        const auto begin = left.find_last_of(' ');
        const auto used =
            leading_number(begin == std::string_view::npos ? left : left.substr(begin + 1));
        const auto total = leading_number(std::string_view(amounts).substr(slash + 1));
        if (total && *total > 0) set_memory_mib(chip.device, total, used);
    }
}

// "| 5       0 | 2290156 | python | 3300 |": NPU and chip, pid, name, MB.
void process_line(const std::vector<std::string>& cells, std::vector<Chip>& chips) {
    const auto words = words_of(cells[0]);
    const auto npu = words.empty() ? std::nullopt : parse_unsigned(words[0]);
    const auto number = words.size() < 2 ? std::nullopt : parse_unsigned(words[1]);
    const auto pid = parse_unsigned(cells[1]);
    if (!npu || !number || !pid || *pid > kHighestPid) return;
    DeviceProcess process{static_cast<long long>(*pid), cells[2], std::nullopt};
    if (cells.size() > 3) process.memory_bytes = bytes_of_mib(leading_number(cells[3]));
    for (auto& chip : chips) {
        if (chip.npu == *npu && chip.chip == *number) chip.device.processes.push_back(process);
    }
}

// Ranks chips by (NPU id, chip): the number that the runtime counts.
std::vector<Device> ranked(std::vector<Chip> chips) {
    std::stable_sort(chips.begin(), chips.end(), [](const Chip& a, const Chip& b) {
        return std::tie(a.npu, a.chip) < std::tie(b.npu, b.chip);
    });
    std::vector<Device> devices;
    for (auto& chip : chips) {
        chip.device.index = static_cast<int>(devices.size());
        chip.device.token = std::to_string(chip.device.index);
        devices.push_back(std::move(chip.device));
    }
    return devices;
}

}  // namespace

std::string ascend_model(std::string_view chip) {
    const std::string name(trim(chip));
    const bool bare = !name.empty() && name[0] >= '0' && name[0] <= '9';
    return bare ? "Ascend" + name : name;
}

Result<std::vector<Device>> parse_npu_smi_info(std::string_view text) {
    std::vector<Chip> chips;
    std::optional<Chip> open;
    bool processes = false;
    for (const auto raw : lines_of(text)) {
        const auto line = trim(raw);
        if (line.find("Process id") != std::string_view::npos) {
            processes = true;
            for (auto& chip : chips) chip.device.processes_known = true;
            continue;
        }
        const auto cells = cells_of(line);
        if (cells.size() < 3) continue;
        if (processes) {
            process_line(cells, chips);
            continue;
        }
        if (open) {
            second_line(cells, *open);
            chips.push_back(std::move(*open));
            open.reset();
        } else {
            open = first_line(cells);
        }
    }
    if (chips.empty()) {
        const auto said = lines_of(trim(text));
        return fail(
            ErrorKind::environment,
            fmt::format("npu-smi: {}", said.empty() ? "no output" : printable(said.back())));
    }
    return ranked(std::move(chips));
}

void ask_npu_smi(const Environment& environment, Discovery& found) {
    if (!find_program("npu-smi", environment)) {
        found.reasons.emplace_back("no npu-smi on PATH");
        return;
    }
    const auto output =
        run_tool({"npu-smi", "info"}, environment, tool_deadline(environment, kDeadline));
    if (!output) {
        found.reasons.push_back(output.error().message);
        return;
    }
    auto devices = parse_npu_smi_info(output->out);
    if (!devices) {
        found.reasons.push_back(devices.error().message);
        return;
    }
    found.source = "npu-smi";
    found.devices = std::move(*devices);
    for (auto& device : found.devices) device.name = ascend_model(device.name);
}

}  // namespace opgauge
