// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/cuda_tool.h"

#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kDeadline{10'000};
constexpr std::uint64_t kMebibyte = 1024 * 1024;

// What nvidia-smi prints where it does not know; all of them mean unknown, never 0.
bool is_placeholder(std::string_view cell) {
    static constexpr std::array<std::string_view, 11> kPlaceholders = {
        "",
        "[N/A]",
        "N/A",
        "[Not Supported]",
        "Not Supported",
        "[Unknown Error]",
        "Unknown Error",
        "[Insufficient Permissions]",
        "[Function Not Found]",
        "[Requested functionality has been deprecated]",
        "ERR!"};
    return std::find(kPlaceholders.begin(), kPlaceholders.end(), cell) != kPlaceholders.end();
}

// "memory.total [MiB]" -> "memory.total".
std::string column_name(std::string_view title) {
    return lower(trim(title.substr(0, title.find('['))));
}

using Cells = std::map<std::string, std::string, std::less<>>;

std::optional<std::string> known(const Cells& cells, std::string_view column) {
    const auto found = cells.find(column);
    if (found == cells.end() || is_placeholder(found->second)) return std::nullopt;
    return found->second;
}

std::optional<double> number(const Cells& cells, std::string_view column) {
    const auto text = known(cells, column);
    if (!text) return std::nullopt;
    return parse_double(text->substr(0, text->find(' ')));
}

std::optional<std::uint64_t> mebibytes(const Cells& cells, std::string_view column) {
    const auto value = number(cells, column);
    if (!value || *value < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*value) * kMebibyte;
}

void add_health(const Cells& cells, Device& device) {
    device.health = Health::ok;
    for (const auto& [column, cell] : cells) {
        if (cell == "[GPU requires reset]" || cell == "GPU requires reset") {
            device.health = Health::unusable;
            device.health_detail = "GPU requires reset";
        }
    }
    const auto action = known(cells, "gpu_recovery_action");
    if (action && *action != "None") {
        device.health = Health::unusable;
        device.health_detail = "recovery action: " + *action;
    }
}

Device device_of(const Cells& cells, int rank) {
    Device device;
    device.backend = "cuda";
    const auto index = known(cells, "index");
    device.index = index ? static_cast<int>(parse_unsigned(*index).value_or(0)) : rank;
    device.uuid = known(cells, "uuid");
    if (!device.uuid) device.uuid = known(cells, "gpu_uuid");
    device.name = known(cells, "name").value_or(known(cells, "gpu_name").value_or("unknown"));
    device.token = device.uuid.value_or(std::to_string(device.index));
    const auto pci = known(cells, "pci.bus_id");
    if (pci) device.pci_id = normal_pci_id(*pci);
    device.memory_total_bytes = mebibytes(cells, "memory.total");
    device.memory_used_bytes = mebibytes(cells, "memory.used");
    device.memory_free_bytes = mebibytes(cells, "memory.free");
    if (!device.memory_free_bytes && device.memory_total_bytes && device.memory_used_bytes) {
        device.memory_free_bytes = *device.memory_total_bytes - *device.memory_used_bytes;
    }
    device.power_limit_watts = number(cells, "enforced.power.limit");
    device.power_watts = number(cells, "power.draw");
    device.temperature_celsius = number(cells, "temperature.gpu");
    device.utilization_percent = number(cells, "utilization.gpu");
    const auto capability = known(cells, "compute_cap");
    if (capability && capability->size() >= 3) {
        const auto dot = capability->find('.');
        const auto major = parse_unsigned(capability->substr(0, dot));
        const auto minor =
            parse_unsigned(capability->substr(std::min(dot, capability->size() - 1) + 1));
        if (major && minor) device.compute_capability = static_cast<int>(*major * 10 + *minor);
    }
    add_health(cells, device);
    return device;
}

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (const auto& cell : split(line, ',')) cells.emplace_back(trim(cell));
    return cells;
}

bool is_header(const std::vector<std::string>& cells) {
    static constexpr std::array<std::string_view, 9> kKnown = {
        "index",        "uuid",        "gpu_uuid",        "name",
        "memory.total", "memory.used", "temperature.gpu", "utilization.gpu",
        "timestamp"};
    return std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
        return std::find(kKnown.begin(), kKnown.end(), column_name(cell)) != kKnown.end();
    });
}

// Text between a label and the next closing bracket: "(UUID: GPU-...)".
std::optional<std::string> uuid_in(std::string_view line) {
    const auto start = line.find("UUID:");
    if (start == std::string_view::npos) return std::nullopt;
    const auto rest = line.substr(start + 5);
    return std::string(trim(rest.substr(0, rest.find(')'))));
}

}  // namespace

std::optional<std::string> nvidia_smi_error(std::string_view text) {
    static constexpr std::array<std::string_view, 8> kErrors = {
        "NVIDIA-SMI has failed",
        "Failed to initialize NVML",
        "No devices were found",
        "Unable to determine the device handle",
        "is not a valid field to query",
        "Unknown Error",
        "couldn't communicate with the NVIDIA driver",
        "Insufficient Permissions"};
    for (const auto line : lines_of(text)) {
        // An error inside a row of values is about that row only.
        if (line.find(',') != std::string_view::npos &&
            line.find("NVIDIA-SMI") == std::string_view::npos) {
            continue;
        }
        for (const auto error : kErrors) {
            if (line.find(error) != std::string_view::npos) return printable(trim(line));
        }
    }
    return std::nullopt;
}

Result<std::vector<Device>> parse_nvidia_smi_csv(std::string_view text,
                                                 const std::vector<std::string>& columns) {
    std::vector<std::string> names = columns;
    std::vector<Device> devices;
    for (const auto line : lines_of(text)) {
        if (trim(line).empty()) continue;
        const auto cells = cells_of(line);
        if (is_header(cells)) {
            names.clear();
            for (const auto& cell : cells) names.push_back(column_name(cell));
            continue;
        }
        // Anything that has not the columns of a row is a message among the rows.
        if (names.empty() || cells.size() < names.size()) continue;
        Cells row;
        for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
        devices.push_back(device_of(row, static_cast<int>(devices.size())));
    }
    if (devices.empty()) {
        if (auto error = nvidia_smi_error(text)) return fail(ErrorKind::environment, *error);
    }
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device& a, const Device& b) { return a.index < b.index; });
    return devices;
}

Result<std::vector<Device>> parse_nvidia_smi_list(std::string_view text) {
    std::vector<Device> devices;
    Device gpu;
    bool gpu_pending = false;
    const auto flush = [&] {
        if (gpu_pending) devices.push_back(gpu);
        gpu_pending = false;
    };
    for (const auto raw : lines_of(text)) {
        const auto line = trim(raw);
        if (line.starts_with("GPU ")) {
            flush();
            const auto colon = line.find(':');
            const auto bracket = line.rfind(" (UUID");
            if (colon == std::string_view::npos) continue;
            gpu = Device{};
            gpu.backend = "cuda";
            gpu.index =
                static_cast<int>(parse_unsigned(trim(line.substr(4, colon - 4))).value_or(0));
            gpu.name = trim(line.substr(colon + 1, bracket - colon - 1));
            gpu.uuid = uuid_in(line);
            gpu.token = gpu.uuid.value_or(std::to_string(gpu.index));
            gpu.health = Health::ok;
            gpu_pending = true;
        } else if (line.starts_with("MIG ")) {
            gpu_pending = false;  // a GPU with instances is no device itself
            Device instance = gpu;
            const auto end = line.find("Device");
            instance.partition = trim(line.substr(0, end));
            instance.name = gpu.name + " " + *instance.partition;
            instance.uuid = uuid_in(line);
            instance.token = instance.uuid.value_or("");
            devices.push_back(std::move(instance));
        }
    }
    flush();
    if (devices.empty()) {
        if (auto error = nvidia_smi_error(text)) return fail(ErrorKind::environment, *error);
    }
    return devices;
}

void ask_nvidia_smi(const Environment& environment, Discovery& found) {
    if (!find_program("nvidia-smi", environment)) {
        found.reasons.emplace_back("no nvidia-smi on PATH");
        return;
    }
    const std::vector<std::string> query = {
        "nvidia-smi",
        "--query-gpu=index,uuid,name,pci.bus_id,memory.total,memory.used,driver_version,"
        "enforced.power.limit",
        "--format=csv,nounits"};
    const auto output = run_tool(query, environment, kDeadline);
    if (!output) {
        found.reasons.push_back(output.error().message);
        return;
    }
    auto devices = parse_nvidia_smi_csv(output->out);
    if (!devices || devices->empty()) {
        const std::string said = devices ? std::string(printable(trim(output->out + output->err)))
                                         : devices.error().message;
        found.reasons.push_back(fmt::format("nvidia-smi: {} (exit {})",
                                            said.empty() ? "no devices" : said,
                                            output->exit_code.value_or(-1)));
        return;
    }
    found.source = "nvidia-smi";
    found.devices = std::move(*devices);
}

}  // namespace opgauge
