// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/rocm_tool.h"

#include "opgauge/base/json.h"
#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace opgauge {
namespace {

// amd-smi was seen to need 21 s with 63 partitions: a short limit is a false alarm.
constexpr std::chrono::milliseconds kDeadline{30'000};
constexpr std::size_t kMostStarts = 32;  // of a document, before a text counts as noise

// Where a document may begin: brackets that begin a line, then any other; noise has brackets too.
std::vector<std::size_t> document_starts(std::string_view text) {
    std::vector<std::size_t> starts;
    std::vector<std::size_t> others;
    for (auto at = text.find_first_of("[{");
         at != std::string_view::npos && starts.size() < kMostStarts && others.size() < kMostStarts;
         at = text.find_first_of("[{", at + 1)) {
        (at == 0 || text[at - 1] == '\n' ? starts : others).push_back(at);
    }
    starts.insert(starts.end(), others.begin(), others.end());
    return starts;
}

// The first JSON document in a text that may have noise before it and more documents behind it.
Result<Json> first_json(std::string_view text, std::string_view tool) {
    for (const std::size_t start : document_starts(text)) {
        if (nests_too_deep(text.substr(start))) continue;
        // Reading from a stream stops behind the first document.
        std::istringstream stream{std::string(text.substr(start))};
        Json value;
        try {
            stream >> value;
            return value;
        } catch (const nlohmann::json::exception&) {
            continue;  // a bracket in the noise
        }
    }
    return fail(ErrorKind::environment,
                fmt::format("{} printed no JSON: {}", tool, printable(trim(text))));
}

// A leaf is a number, a text, or {"value": ..., "unit": ...}.
std::optional<double> number_leaf(const Json& object, std::string_view key) {
    if (!object.is_object() || !object.contains(std::string(key))) return std::nullopt;
    const Json& leaf = object.at(std::string(key));
    if (leaf.is_number()) return leaf.get<double>();
    if (leaf.is_string()) return leading_number(leaf.get<std::string>());
    if (leaf.is_object()) return number_leaf(leaf, "value");
    return std::nullopt;
}

std::optional<std::string> known_text(const Json& object, std::string_view key) {
    const auto text = get_optional<std::string>(object, key);
    if (!text || text->empty() || *text == "N/A") return std::nullopt;
    return text;
}

std::optional<std::string> first_known(std::initializer_list<std::optional<std::string>> texts) {
    for (const auto& text : texts) {
        if (text) return text;
    }
    return std::nullopt;
}

Device amd_device(const Json& entry, int rank) {
    // hip_id (list -e, since ROCm 6.4) is the number that the runtime counts.
    const auto hip = get_optional<int>(entry, "hip_id");
    Device device =
        numbered_device("rocm", hip ? *hip : get_optional<int>(entry, "gpu").value_or(rank));
    const Json asic = entry.value("asic", Json::object());
    const Json bus = entry.value("bus", Json::object());
    const Json board = entry.value("board", Json::object());
    const auto name =
        first_known({known_text(asic, "market_name"), known_text(board, "product_name")});
    if (name) device.name = *name;
    device.uuid = known_text(entry, "uuid");
    const auto bdf = first_known({known_text(entry, "bdf"), known_text(bus, "bdf")});
    if (bdf) device.pci_id = normal_pci_id(*bdf);
    // "MB" that are MiB.
    set_memory_mib(device, number_leaf(entry.value("vram", Json::object()), "size"), std::nullopt);
    return device;
}

// The keys of rocm-smi are spelled by version; case decides nothing.
std::optional<std::string> any_case(const Json& card,
                                    std::initializer_list<std::string_view> keys) {
    for (const auto key : keys) {
        for (const auto& [name, value] : card.items()) {
            if (lower(name) != lower(key) || !value.is_string()) continue;
            const auto text = value.get<std::string>();
            if (!text.empty() && text != "N/A") return text;
        }
    }
    return std::nullopt;
}

Device rocm_device(const Json& card, int index) {
    Device device = numbered_device("rocm", index);
    device.name = any_case(card, {"Device Name", "Card Series", "Card series", "Card model"})
                      .value_or("unknown");
    if (const auto id = any_case(card, {"Unique ID"})) {
        // "0x50e0ba3b02c8e72": a leading zero is dropped by the tool, not by the runtime.
        const std::string digits = id->starts_with("0x") ? id->substr(2) : *id;
        device.uuid =
            "GPU-" + std::string(16 - std::min<std::size_t>(16, digits.size()), '0') + digits;
    }
    if (const auto bus = any_case(card, {"PCI Bus"})) device.pci_id = normal_pci_id(*bus);
    const auto total = any_case(card, {"VRAM Total Memory (B)"});
    const auto used = any_case(card, {"VRAM Total Used Memory (B)"});
    if (total) {
        const double mib = leading_number(*total).value_or(0) / static_cast<double>(kMebibyte);
        const auto used_bytes = used ? leading_number(*used) : std::nullopt;
        set_memory_mib(device, mib,
                       used_bytes ? std::optional(*used_bytes / static_cast<double>(kMebibyte))
                                  : std::nullopt);
    }
    return device;
}

bool take_devices(Result<std::vector<Device>> devices, const char* tool, Discovery& found) {
    if (devices && !devices->empty()) {
        found.source = tool;
        found.devices = std::move(*devices);
        return true;
    }
    found.reasons.push_back(devices ? fmt::format("{}: no devices", tool)
                                    : devices.error().message);
    return false;
}

// `static` has no UUID and counts in its own order: `list` has both, with HIP's numbers where the
// tool is new enough for -e. Devices are joined by their PCI address.
void add_list(const Environment& environment, std::vector<Device>& devices) {
    std::vector<Device> listed;
    for (const char* option : {"-e", ""}) {
        std::vector<std::string> command = {"amd-smi", "list", "--json"};
        if (*option != '\0') command.emplace_back(option);
        const auto output = run_tool(command, environment, tool_deadline(environment, kDeadline));
        if (output) listed = parse_amd_smi_json(output->out).value_or(std::vector<Device>{});
        if (!listed.empty() || !output) break;
    }
    if (listed.size() != devices.size()) return;
    std::set<int> numbers;
    for (const auto& device : listed) numbers.insert(device.index);
    for (auto& device : devices) {
        const auto same = std::find_if(listed.begin(), listed.end(), [&](const Device& other) {
            return other.pci_id && other.pci_id == device.pci_id;
        });
        if (same == listed.end()) continue;
        device.uuid = same->uuid;
        if (numbers.size() != listed.size()) continue;  // no numbers of their own
        device.index = same->index;
        device.token = same->token;
    }
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device& a, const Device& b) { return a.index < b.index; });
}

bool ask_amd_smi(const Environment& environment, Discovery& found) {
    const auto output =
        run_tool({"amd-smi", "static", "--asic", "--bus", "--vram", "--board", "--json"},
                 environment, tool_deadline(environment, kDeadline));
    if (!output) {
        found.reasons.push_back(output.error().message);
        return false;
    }
    if (!take_devices(parse_amd_smi_json(output->out), "amd-smi", found)) return false;
    add_list(environment, found.devices);
    return true;
}

}  // namespace

Result<std::vector<Device>> parse_amd_smi_json(std::string_view text) {
    OPGAUGE_TRY_ASSIGN(const Json root, first_json(text, "amd-smi"));
    const Json list = root.is_object() ? root.value("gpu_data", Json::array()) : root;
    std::vector<Device> devices;
    for (const auto& entry : list) {
        if (entry.is_object())
            devices.push_back(amd_device(entry, static_cast<int>(devices.size())));
    }
    return devices;
}

Result<std::vector<Device>> parse_rocm_smi_json(std::string_view text) {
    OPGAUGE_TRY_ASSIGN(const Json root, first_json(text, "rocm-smi"));
    std::vector<Device> devices;
    for (const auto& [name, card] : root.items()) {
        if (!name.starts_with("card") || !card.is_object()) continue;
        const auto index = parse_unsigned(std::string_view(name).substr(4));
        if (index) devices.push_back(rocm_device(card, static_cast<int>(*index)));
    }
    std::sort(devices.begin(), devices.end(),
              [](const Device& a, const Device& b) { return a.index < b.index; });
    return devices;
}

void ask_amd_tools(const Environment& environment, Discovery& found) {
    if (!find_program("amd-smi", environment)) {
        found.reasons.emplace_back("no amd-smi on PATH");
    } else if (ask_amd_smi(environment, found)) {
        return;
    }
    if (!find_program("rocm-smi", environment)) {
        found.reasons.emplace_back("no rocm-smi on PATH");
        return;
    }
    const auto output = run_tool({"rocm-smi", "--showproductname", "--showuniqueid", "--showbus",
                                  "--showmeminfo", "vram", "--json"},
                                 environment, tool_deadline(environment, kDeadline));
    if (!output) {
        found.reasons.push_back(output.error().message);
        return;
    }
    take_devices(parse_rocm_smi_json(output->out), "rocm-smi", found);
}

}  // namespace opgauge
