// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/musa_tool.h"

#include "opgauge/base/json.h"
#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kDeadline{10'000};

Device new_device(std::string_view index) {
    return numbered_device("musa", small_index(index).value_or(0));
}

// A text member whose key may carry blanks at its end.
std::string member(const Json& object, std::string_view key) {
    if (!object.is_object()) return {};
    for (const auto& [name, value] : object.items()) {
        if (trim(name) == key && value.is_string())
            return std::string(trim(value.get<std::string>()));
    }
    return {};
}

std::optional<std::string> known(std::string text) {
    if (text.empty() || text == "N/A") return std::nullopt;
    return text;
}

Device device_of(const Json& entry) {
    Device device = new_device(member(entry, "Index"));
    device.name = known(member(entry, "Product Name")).value_or("unknown");
    device.uuid = known(member(entry, "GPU UUID"));
    const Json memory = entry.value("FB Memory Usage", Json::object());
    set_memory_mib(device, leading_number(member(memory, "Total")),
                   leading_number(member(memory, "Used")));
    const auto pci = known(member(entry.value("PCI", Json::object()), "Bus ID"));
    if (pci) device.pci_id = normal_pci_id(*pci);
    const Json power = entry.value("Power Readings", Json::object());
    const auto limit = leading_number(member(power, "Current Power Limit"));
    if (limit && *limit > 0) device.power_limit_watts = limit;
    device.power_watts = leading_number(member(power, "Power Draw"));
    device.temperature_celsius =
        leading_number(member(entry.value("Temperature", Json::object()), "GPU Current Temp"));
    device.utilization_percent =
        leading_number(member(entry.value("Utilization", Json::object()), "Gpu"));
    return device;
}

}  // namespace

Result<std::vector<Device>> parse_mthreads_json(std::string_view text) {
    const auto start = text.find('{');
    if (start == std::string_view::npos) {
        return fail(ErrorKind::environment,
                    "mthreads-gmi printed no JSON: " + printable(trim(text)));
    }
    OPGAUGE_TRY_ASSIGN(const Json root, parse_json(text.substr(start), "mthreads-gmi's answer"));
    std::vector<Device> devices;
    const Json list = root.value("GPU", Json::array());
    for (const auto& entry : list) {
        if (entry.is_object()) devices.push_back(device_of(entry));
    }
    return devices;
}

Result<std::vector<Device>> parse_mthreads_list(std::string_view text) {
    std::vector<Device> devices;
    for (const auto raw : lines_of(text)) {
        const auto line = trim(raw);
        const auto colon = line.find(':');
        const auto bracket = line.find("(UUID");
        if (!line.starts_with("GPU") || colon == std::string_view::npos) continue;
        Device device = new_device(line.substr(3, colon - 3));
        device.name = trim(line.substr(colon + 1, bracket - colon - 1));
        if (bracket != std::string_view::npos) {
            const auto rest = line.substr(line.find(':', bracket) + 1);
            device.uuid = std::string(trim(rest.substr(0, rest.find(')'))));
        }
        devices.push_back(std::move(device));
    }
    return devices;
}

Result<std::vector<Device>> parse_mthreads_table(std::string_view text) {
    std::vector<Device> devices;
    for (const auto line : lines_of(text)) {
        if (line.starts_with("Processes")) break;
        // "0    MTT S80        |00000000:01:00.0    |98%   1339MiB(16384MiB)"
        const auto cells = split(line, '|');
        if (cells.size() >= 3 && !devices.empty() && trim(cells[0]) == "Physical") {
            devices.back().temperature_celsius = leading_number(cells[2]);
            continue;
        }
        if (cells.size() < 3 || line.empty() ||
            std::isdigit(static_cast<unsigned char>(line[0])) == 0) {
            continue;
        }
        const auto blank = cells[0].find(' ');
        Device device = new_device(std::string_view(cells[0]).substr(0, blank));
        device.name = trim(std::string_view(cells[0]).substr(std::min(blank, cells[0].size())));
        device.pci_id = normal_pci_id(cells[1]);
        const auto percent = cells[2].find('%');
        if (const auto memory = used_and_total(cells[2].substr(percent + 1))) {
            set_memory_mib(device, memory->total, memory->used);
        }
        device.utilization_percent = leading_number(cells[2]);
        devices.push_back(std::move(device));
    }
    if (devices.empty()) {
        const auto said = lines_of(trim(text));
        return fail(ErrorKind::environment,
                    said.empty() ? "mthreads-gmi printed nothing"
                                 : "no device in mthreads-gmi's table: " + printable(said.back()));
    }
    return devices;
}

Result<std::vector<Device>> parse_mthreads_memory(std::string_view text) {
    std::optional<double> total;
    std::optional<double> used;
    for (const auto line : lines_of(text)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = trim(line.substr(0, colon));
        if (key == "Total") total = leading_number(line.substr(colon + 1));
        if (key == "Used") used = leading_number(line.substr(colon + 1));
    }
    if (!total) return fail(ErrorKind::environment, "mthreads-gmi printed no memory");
    Device device = new_device("0");
    set_memory_mib(device, total, used);
    return std::vector{device};
}

void ask_mthreads_gmi(const Environment& environment, Discovery& found) {
    if (!find_program("mthreads-gmi", environment)) {
        found.reasons.emplace_back("no mthreads-gmi on PATH");
        return;
    }
    const auto output = run_tool({"mthreads-gmi", "-q", "--json"}, environment,
                                 tool_deadline(environment, kDeadline));
    if (!output) {
        found.reasons.push_back(output.error().message);
        return;
    }
    if (trim(output->out).empty()) {
        // What a container without the vendor's runtime gives.
        found.reasons.emplace_back(
            "mthreads-gmi printed nothing: no driver, or a container without "
            "MTHREADS_VISIBLE_DEVICES");
        return;
    }
    auto devices = parse_mthreads_json(output->out);
    if (!devices || devices->empty()) {
        found.reasons.push_back(devices ? "mthreads-gmi: no devices" : devices.error().message);
        return;
    }
    const auto root = parse_json(output->out.substr(output->out.find('{')), "mthreads-gmi");
    if (root) found.driver = known(member(*root, "Driver Version"));
    found.source = "mthreads-gmi";
    found.devices = std::move(*devices);
}

}  // namespace opgauge
