// SPDX-License-Identifier: Apache-2.0
// How nvidia-smi is asked, for machines where NVML cannot be opened.
#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/device/cuda_tool.h"
#include "opgauge/device/tool_text.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kDeadline{10'000};
constexpr std::string_view kFields =
    "index,uuid,name,pci.bus_id,memory.total,memory.used,driver_version,enforced.power.limit";
// Not known to every driver, and one unknown field fails the whole query.
constexpr std::string_view kNewerFields = ",compute_cap,mig.mode.current";

Result<ToolOutput> ask(const Environment& environment, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "nvidia-smi");
    return run_tool(arguments, environment, tool_deadline(environment, kDeadline));
}

Result<ToolOutput> query(const Environment& environment) {
    const std::string all = fmt::format("--query-gpu={}{}", kFields, kNewerFields);
    OPGAUGE_TRY_ASSIGN(ToolOutput output, ask(environment, {all, "--format=csv,nounits"}));
    if (output.out.find("is not a valid field") == std::string::npos) return output;
    return ask(environment, {fmt::format("--query-gpu={}", kFields), "--format=csv,nounits"});
}

bool is_mig_parent(const Device& device) {
    return device.partition == std::string(kMigParent);
}

// Puts the instances of each GPU in MIG mode in the GPU's place.
void expand_instances(const Environment& environment, Discovery& found) {
    std::vector<Device> instances;
    const auto output = ask(environment, {"-L"});
    if (output) instances = parse_nvidia_smi_list(output->out).value_or(std::vector<Device>{});
    std::vector<Device> devices;
    for (const auto& gpu : found.devices) {
        if (!is_mig_parent(gpu)) {
            devices.push_back(gpu);
            continue;
        }
        const std::size_t before = devices.size();
        for (auto& instance : instances) {
            if (instance.index != gpu.index || !instance.partition) continue;
            instance.pci_id = gpu.pci_id;
            instance.compute_capability = gpu.compute_capability;
            instance.power_limit_watts = gpu.power_limit_watts;
            instance.health = gpu.health;
            instance.health_detail = gpu.health_detail;
            devices.push_back(instance);
        }
        if (devices.size() == before) {
            found.reasons.push_back(fmt::format(
                "device {} ({}) is in MIG mode and has no instance: create one or end the mode",
                gpu.index, gpu.name));
        }
    }
    found.devices = std::move(devices);
}

void add_processes(const Environment& environment, Discovery& found) {
    const auto output =
        ask(environment, {"--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory",
                          "--format=csv,noheader,nounits"});
    if (output && output->exit_code == 0) add_nvidia_smi_processes(output->out, found.devices);
}

std::string end_of(const ToolOutput& output) {
    return output.exit_code ? fmt::format("exit {}", *output.exit_code)
                            : fmt::format("signal {}", output.signal.value_or(0));
}

}  // namespace

void ask_nvidia_smi(const Environment& environment, Discovery& found) {
    if (!find_program("nvidia-smi", environment)) {
        found.reasons.emplace_back("no nvidia-smi on PATH");
        return;
    }
    const auto output = query(environment);
    if (!output) {
        found.reasons.push_back(output.error().message);
        return;
    }
    auto devices = parse_nvidia_smi_csv(output->out);
    if (!devices || devices->empty()) {
        const std::string said =
            devices ? printable(trim(output->out + output->err)) : devices.error().message;
        found.reasons.push_back(fmt::format("nvidia-smi: {} ({})",
                                            said.empty() ? "no devices" : said, end_of(*output)));
        return;
    }
    // Rows of the healthy GPUs beside a line about a lost one.
    if (const auto error = nvidia_smi_error(output->out)) {
        found.reasons.push_back("nvidia-smi: " + *error);
    }
    found.source = "nvidia-smi";
    found.driver = nvidia_smi_csv_value(output->out, "driver_version");
    found.devices = std::move(*devices);
    add_processes(environment, found);
    for (const auto& device : found.devices) {
        if (!is_mig_parent(device)) continue;
        expand_instances(environment, found);
        break;
    }
}

}  // namespace opgauge
