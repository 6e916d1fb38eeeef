// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/tool_output.h"

#include "opgauge/base/text.h"
#include "opgauge/device/ascend_tool.h"
#include "opgauge/device/cuda_tool.h"
#include "opgauge/device/musa_tool.h"
#include "opgauge/device/rocm_tool.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string_view word_after(std::string_view text, std::string_view mark) {
    const auto start = text.find(mark);
    if (start == std::string_view::npos) return {};
    const auto rest = text.substr(start + mark.size());
    return rest.substr(0, rest.find(' '));
}

// `lspci -Dnn`: cards that are on the bus whatever their driver says.
Result<std::vector<Device>> parse_lspci(std::string_view text, std::string_view vendor) {
    std::vector<Device> devices;
    for (const auto line : lines_of(text)) {
        const bool display = contains(line, "[03") || contains(line, "[12");
        if (!display || !contains(line, fmt::format("[{}:", vendor))) continue;
        Device device;
        device.index = static_cast<int>(devices.size());
        device.token = std::to_string(device.index);
        device.pci_id = normal_pci_id(line.substr(0, line.find(' ')));
        device.name = "unknown";
        devices.push_back(std::move(device));
    }
    return devices;
}

Result<std::vector<Device>> parse_cuda(std::string_view command, std::string_view text) {
    if (command.starts_with("lspci")) return parse_lspci(text, "10de");
    if (contains(command, " -L")) return parse_nvidia_smi_list(text);
    if (!contains(command, "--query-gpu=")) return parse_nvidia_smi_table(text);
    std::vector<std::string> columns;
    if (contains(command, "noheader")) {
        for (const auto& name : split(word_after(command, "--query-gpu="), ',')) {
            columns.emplace_back(trim(name));
        }
    }
    return parse_nvidia_smi_csv(text, columns);
}

Result<std::vector<Device>> parse_musa(std::string_view command, std::string_view text) {
    if (contains(command, "json")) return parse_mthreads_json(text);
    if (contains(command, " -L")) return parse_mthreads_list(text);
    if (contains(command, "-d MEMORY")) return parse_mthreads_memory(text);
    return parse_mthreads_table(text);
}

Result<std::vector<Device>> parse_rocm(std::string_view command, std::string_view text) {
    if (contains(command, "--csv")) return parse_rocm_smi_csv(text);
    if (contains(command, "--json")) {
        return contains(command, "rocm-smi") ? parse_rocm_smi_json(text) : parse_amd_smi_json(text);
    }
    return parse_amd_text(text);
}

Result<std::vector<Device>> parse_ascend(std::string_view command, std::string_view text) {
    if (contains(command, " -m")) return parse_npu_smi_map(text);
    if (contains(command, " -l") || contains(command, " -t")) return parse_npu_smi_blocks(text);
    return parse_npu_smi_info(text);
}

struct Tool {
    std::string_view program;
    std::string_view backend;
};
constexpr std::array<Tool, 6> kTools = {{{"nvidia-smi", "cuda"},
                                         {"lspci", "cuda"},
                                         {"mthreads-gmi", "musa"},
                                         {"rocm-smi", "rocm"},
                                         {"amd-smi", "rocm"},
                                         {"npu-smi", "ascend"}}};

// "/opt/x/bin/tool -L": the tool.
std::string_view program_of(std::string_view command) {
    const auto word = command.substr(0, command.find(' '));
    return word.substr(word.rfind('/') + 1);
}

std::string known_tools() {
    std::vector<std::string> names;
    for (const auto& tool : kTools) names.emplace_back(tool.program);
    return join(names, ", ");
}

}  // namespace

Result<Discovery> read_pasted_output(std::string_view command, std::string_view text) {
    if (command.empty() && text.starts_with("$ ")) {
        const auto end = std::min(text.find('\n'), text.size());
        command = trim(text.substr(2, end - 2));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (command.empty()) {
        return fail(ErrorKind::usage,
                    "no command to read the output by; name what printed it with --command, or "
                    "keep its line (\"$ tool ...\") at the head of the file");
    }
    const auto program = program_of(command);
    const auto* tool = std::find_if(kTools.begin(), kTools.end(),
                                    [&](const Tool& known) { return known.program == program; });
    if (tool == kTools.end()) {
        return fail(ErrorKind::usage, fmt::format("'{}' is no tool that lists devices; known: {}",
                                                  printable(program), known_tools()));
    }
    Discovery found;
    found.backend = tool->backend;
    found.source = printable(command);
    OPGAUGE_TRY_ASSIGN(found.devices, parse_tool_output(found.backend, command, text));
    if (found.devices.empty()) {
        found.reasons.push_back(fmt::format("the output of {} lists none", found.source));
    }
    return found;
}

Result<std::vector<Device>> parse_tool_output(std::string_view backend, std::string_view command,
                                              std::string_view text) {
    if (backend == "cuda") return parse_cuda(command, text);
    if (backend == "musa") return parse_musa(command, text);
    if (backend == "rocm") return parse_rocm(command, text);
    if (backend == "ascend") return parse_ascend(command, text);
    return fail(ErrorKind::usage, fmt::format("backend {} has no tool", backend));
}

}  // namespace opgauge
