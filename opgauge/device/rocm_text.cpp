// SPDX-License-Identifier: Apache-2.0
// amd-smi's and rocm-smi's texts for people, for versions without --json or where it is broken.
#include "opgauge/base/text.h"
#include "opgauge/device/rocm_tool.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace opgauge {
namespace {

// Devices by index, made when first named.
class Found {
  public:
    Device& at(unsigned long long index) {
        const auto key = static_cast<int>(index);
        return devices_.try_emplace(key, numbered_device("rocm", key)).first->second;
    }
    std::vector<Device> take() const {
        std::vector<Device> result;
        for (const auto& [index, device] : devices_) result.push_back(device);
        return result;
    }

  private:
    std::map<int, Device> devices_;
};

std::optional<unsigned long long> unsigned_prefix(std::string_view text) {
    text = trim(text);
    std::size_t end = 0;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const auto index = small_index(text.substr(0, end));
    return index ? std::optional(static_cast<unsigned long long>(*index)) : std::nullopt;
}

void set_fact(Device& device, std::string_view key, std::string_view value) {
    key = trim(key);
    value = trim(value);
    const auto bytes_to_mib = [&]() -> std::optional<double> {
        const auto bytes = leading_number(value);
        if (!bytes) return std::nullopt;
        return *bytes / static_cast<double>(kMebibyte);
    };
    if (key == "BDF" || key == "PCI Bus") device.pci_id = normal_pci_id(value);
    if (key == "UUID") device.uuid = std::string(value);
    if (key == "VRAM Total Memory (B)") set_memory_mib(device, bytes_to_mib(), std::nullopt);
    if (key == "VRAM Total Used Memory (B)" && device.memory_total_bytes) {
        set_memory_mib(device, static_cast<double>(*device.memory_total_bytes / kMebibyte),
                       bytes_to_mib());
    }
}

void set_facts(Device& device, std::string_view text, char separator) {
    for (const auto& part : split(text, separator)) {
        const auto colon = part.find(':');
        if (colon == std::string::npos) continue;
        set_fact(device, part.substr(0, colon), std::string_view(part).substr(colon + 1));
    }
}

// "GPU: 0" followed by indented "BDF: ..." lines; "ID: 0 | BDF: ... | UUID: ...";
// "GPU[0]  : PCI Bus: 0000:01:00.0".
bool take_line(std::string_view line, Found& found, std::optional<unsigned long long>& block) {
    if (line.starts_with("GPU:")) {
        block = unsigned_prefix(line.substr(4));
        if (block) found.at(*block);
        return true;
    }
    if (line.starts_with("ID:")) {
        if (const auto index = unsigned_prefix(line.substr(3)))
            set_facts(found.at(*index), line, '|');
        return true;
    }
    if (line.starts_with("GPU[")) {
        const auto index = unsigned_prefix(line.substr(4));
        const auto colon = line.find(':');
        if (index && colon != std::string_view::npos) {
            set_facts(found.at(*index), line.substr(colon + 1), '\n');
        }
        return true;
    }
    if (block && line.starts_with(" ")) {
        set_facts(found.at(*block), trim(line), '\n');
        return true;
    }
    return false;
}

// amd-smi's framed table: "| 0000:07:00.0  AMD Instinct MI300X | ..." and, one line below,
// "|   0  0  0  DPX/NPS1 | N/A  N/A  283/196592 MB |".
class FramedTable {
  public:
    void take(std::string_view line, Found& found) {
        const auto cells = split(line, '|');
        if (cells.size() < 4) return;
        const auto left = trim(cells[1]);
        const auto blank = left.find(' ');
        const auto first = left.substr(0, blank);
        if (std::count(first.begin(), first.end(), ':') == 2) {
            pci_ = normal_pci_id(first);
            name_ = trim(left.substr(std::min(blank, left.size())));
        } else if (!pci_.empty() && small_index(first)) {
            Device& device = found.at(*unsigned_prefix(first));
            device.pci_id = pci_;
            device.name = name_;
            const auto right = trim(cells[2]);
            const auto unit = right.rfind(' ');
            const auto amounts =
                unit == std::string_view::npos || unit == 0 ? unit : right.rfind(' ', unit - 1);
            const auto memory = used_and_total(
                amounts == std::string_view::npos ? right : right.substr(amounts + 1));
            if (memory) set_memory_mib(device, memory->total, memory->used);
            pci_.clear();
        }
    }

  private:
    std::string pci_;
    std::string name_;
};

// rocm-smi's concise table: rows begin with the index; the model's name stands one line below.
class ConciseTable {
  public:
    void take(std::string_view line, Found& found) {
        if (!line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) != 0) {
            const auto index = unsigned_prefix(line);
            // "0  [0x74a1 : 0x00]  35.0C ..." or "15  17  0x74a1,  48427 ...".
            const bool row = line.find("0x") != std::string_view::npos ||
                             line.find("NPS") != std::string_view::npos;
            if (index && row) last_ = &found.at(*index);
            return;
        }
        if (last_ != nullptr && line.starts_with("        ")) {
            const std::string name(trim(line));
            if (!name.empty()) last_->name = name;
        }
        last_ = nullptr;
    }

  private:
    Device* last_ = nullptr;
};

}  // namespace

Result<std::vector<Device>> parse_amd_text(std::string_view text) {
    Found found;
    FramedTable framed;
    ConciseTable concise;
    std::optional<unsigned long long> block;
    for (const auto line : lines_of(text)) {
        if (take_line(line, found, block)) continue;
        framed.take(line, found);
        concise.take(line, found);
    }
    auto devices = found.take();
    if (!devices.empty()) return devices;
    for (const auto line : lines_of(text)) {
        const auto mark = line.find("ERROR");
        if (mark != std::string_view::npos)
            return fail(ErrorKind::environment, printable(trim(line)));
    }
    return fail(ErrorKind::environment, "no device in the text: " + printable(trim(text), 100));
}

Result<std::vector<Device>> parse_rocm_smi_csv(std::string_view text) {
    std::vector<std::string> titles;
    std::vector<Device> devices;
    for (const auto line : lines_of(text)) {
        const auto cells = split(line, ',');
        if (cells[0] == "device") {
            for (const auto& cell : cells) titles.push_back(lower(cell));
            continue;
        }
        if (titles.empty() || !cells[0].starts_with("card") || cells.size() < titles.size())
            continue;
        Device device =
            numbered_device("rocm", small_index(std::string_view(cells[0]).substr(4)).value_or(0));
        std::optional<double> total;
        std::optional<double> used;
        for (std::size_t i = 0; i < titles.size(); ++i) {
            const auto mib = leading_number(cells[i]).value_or(0) / static_cast<double>(kMebibyte);
            if (titles[i] == "card series") device.name = cells[i];
            if (titles[i] == "vram total memory (b)") total = mib;
            if (titles[i] == "vram total used memory (b)") used = mib;
        }
        set_memory_mib(device, total, used);
        devices.push_back(std::move(device));
    }
    if (devices.empty()) return fail(ErrorKind::environment, "rocm-smi --csv lists no card");
    return devices;
}

}  // namespace opgauge
