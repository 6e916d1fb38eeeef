// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/devices_report.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

std::string gibibytes(const std::optional<std::uint64_t>& bytes) {
    return bytes ? fmt::format("{:.1f} GiB", static_cast<double>(*bytes) / (1U << 30U)) : "-";
}

std::string health_text(const Device& device) {
    std::string text(name_of(device.health));
    if (!device.health_detail.empty()) text += ": " + printable(device.health_detail, 60);
    return text;
}

std::string processes_text(const Device& device) {
    if (device.processes.empty()) return device.processes_known ? "none" : "-";
    std::vector<std::string> parts;
    for (const auto& process : device.processes) {
        parts.push_back(fmt::format("{} {}", process.pid, printable(process.name, 20)));
    }
    return join(parts, ", ");
}

Json device_json(const Device& device) {
    Json processes = Json::array();
    for (const auto& process : device.processes) {
        processes.push_back({{"pid", process.pid},
                             {"name", process.name},
                             {"memory_bytes", optional_json(process.memory_bytes)}});
    }
    return {{"index", device.index},
            {"token", device.token},
            {"name", device.name},
            {"uuid", optional_json(device.uuid)},
            {"pci_id", optional_json(device.pci_id)},
            {"partition", optional_json(device.partition)},
            {"memory_total_bytes", optional_json(device.memory_total_bytes)},
            {"memory_free_bytes", optional_json(device.memory_free_bytes)},
            {"power_limit_watts", optional_json(device.power_limit_watts)},
            {"compute_capability", optional_json(device.compute_capability)},
            {"health", name_of(device.health)},
            {"health_detail", device.health_detail},
            {"processes", device.processes_known ? processes : Json(nullptr)}};
}

}  // namespace

std::string devices_text(const std::vector<Discovery>& found) {
    TextTable table({{"backend"},
                     {"index", Align::right},
                     {"model"},
                     {"token"},
                     {"PCI id"},
                     {"memory", Align::right},
                     {"free", Align::right},
                     {"partition"},
                     {"health"},
                     {"other processes"}});
    std::string reasons;
    for (const auto& discovery : found) {
        for (const auto& device : discovery.devices) {
            table.add_row({discovery.backend, std::to_string(device.index),
                           printable(device.name, 60), printable(device.token, 60),
                           device.pci_id.value_or("-"), gibibytes(device.memory_total_bytes),
                           gibibytes(device.memory_free_bytes),
                           printable(device.partition.value_or("-"), 40), health_text(device),
                           processes_text(device)});
        }
        if (discovery.reasons.empty()) continue;
        // With devices the reasons tell what was left out, or why a tool had to answer.
        reasons += fmt::format("{}: {}: {}\n", discovery.backend,
                               discovery.devices.empty() ? "no devices" : "note",
                               join(discovery.reasons, "; "));
    }
    std::string text = table.empty() ? std::string() : table.render();
    if (!text.empty() && !reasons.empty()) text += "\n";
    return text + reasons;
}

Json devices_json(const std::vector<Discovery>& found) {
    Json list = Json::array();
    for (const auto& discovery : found) {
        Json devices = Json::array();
        for (const auto& device : discovery.devices) devices.push_back(device_json(device));
        list.push_back({{"backend", discovery.backend},
                        {"source", discovery.source},
                        {"driver", optional_json(discovery.driver)},
                        {"runtime", optional_json(discovery.runtime)},
                        {"devices", devices},
                        {"reasons", discovery.reasons}});
    }
    return {{"schema_version", 1}, {"backends", list}};
}

}  // namespace opgauge
