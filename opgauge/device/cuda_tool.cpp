// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/cuda_tool.h"

#include "opgauge/base/text.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace opgauge {
namespace {

constexpr unsigned long long kHighestPid = 1ULL << 31U;

// What nvidia-smi prints where it does not know; all of them mean unknown, never 0. Most stand in
// brackets: "[N/A]", "[Not Supported]", "[GPU requires reset]".
bool is_placeholder(std::string_view cell) {
    static constexpr std::array<std::string_view, 6> kPlaceholders = {
        "", "N/A", "Not Supported", "Unknown Error", "GPU requires reset", "ERR!"};
    return (cell.starts_with('[') && cell.ends_with(']')) ||
           std::find(kPlaceholders.begin(), kPlaceholders.end(), cell) != kPlaceholders.end();
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

void add_memory(const Cells& cells, Device& device) {
    const auto used = bytes_of_mib(number(cells, "memory.used"));
    set_memory_mib(device, number(cells, "memory.total"), number(cells, "memory.used"));
    if (!device.memory_used_bytes) device.memory_used_bytes = used;
    if (const auto free = bytes_of_mib(number(cells, "memory.free"))) {
        device.memory_free_bytes = free;
    }
}

void add_capability(const Cells& cells, Device& device) {
    const auto text = known(cells, "compute_cap");
    const auto parts = split(text.value_or(""), '.');
    if (parts.size() != 2) return;
    const auto major = parse_unsigned(parts[0]);
    const auto minor = parse_unsigned(parts[1]);
    if (major && minor && *major < 1000 && *minor < 10) {
        device.compute_capability = static_cast<int>(*major * 10 + *minor);
    }
}

Device device_of(const Cells& cells, int rank) {
    Device device;
    device.backend = "cuda";
    device.index = small_index(known(cells, "index").value_or("")).value_or(rank);
    device.uuid = known(cells, "uuid");
    if (!device.uuid) device.uuid = known(cells, "gpu_uuid");
    device.name = known(cells, "name").value_or(known(cells, "gpu_name").value_or("unknown"));
    device.token = device.uuid.value_or(std::to_string(device.index));
    const auto pci = known(cells, "pci.bus_id");
    if (pci) device.pci_id = normal_pci_id(*pci);
    add_memory(cells, device);
    device.power_limit_watts = number(cells, "enforced.power.limit");
    device.power_watts = number(cells, "power.draw");
    device.temperature_celsius = number(cells, "temperature.gpu");
    device.utilization_percent = number(cells, "utilization.gpu");
    add_capability(cells, device);
    if (known(cells, "mig.mode.current") == "Enabled") device.partition = kMigParent;
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

// The rows of values, by column; columns come from the header line where there is one.
std::vector<Cells> rows_of(std::string_view text, std::vector<std::string> names) {
    std::vector<Cells> rows;
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
        rows.push_back(std::move(row));
    }
    return rows;
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
    std::vector<Device> devices;
    for (const auto& row : rows_of(text, columns)) {
        devices.push_back(device_of(row, static_cast<int>(devices.size())));
    }
    if (devices.empty()) {
        if (auto error = nvidia_smi_error(text)) return fail(ErrorKind::environment, *error);
    }
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device& a, const Device& b) { return a.index < b.index; });
    return devices;
}

std::optional<std::string> nvidia_smi_csv_value(std::string_view text, std::string_view column) {
    for (const auto& row : rows_of(text, {})) {
        if (auto value = known(row, column)) return value;
    }
    return std::nullopt;
}

void add_nvidia_smi_processes(std::string_view text, std::vector<Device>& devices) {
    for (auto& device : devices) device.processes_known = device.uuid && !device.partition;
    for (const auto line : lines_of(text)) {
        // "GPU-..., 6194, /usr/bin/python3, 88438": a name may have commas of its own.
        const auto cells = cells_of(line);
        if (cells.size() < 4) continue;
        const auto pid = parse_unsigned(cells[1]);
        if (!pid || *pid > kHighestPid) continue;
        DeviceProcess process{static_cast<long long>(*pid), "", std::nullopt};
        const std::vector<std::string> name(cells.begin() + 2, cells.end() - 1);
        if (!is_placeholder(name[0])) process.name = join(name, ", ");
        process.memory_bytes = bytes_of_mib(parse_double(cells.back()));
        for (auto& device : devices) {
            if (device.uuid == cells[0]) device.processes.push_back(process);
        }
    }
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
            gpu.index = small_index(line.substr(4, colon - 4)).value_or(0);
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

}  // namespace opgauge
