// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_device.h"

#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr std::chrono::seconds kDeadline{60};

// Layers that the runtime would apply on top of the outermost one that is set, and those of other
// vendors: Slurm sets all that it knows where a node has no flag, with host numbers in each.
EnvironmentChanges without_other_layers(const Backend& backend, const Environment& environment) {
    const auto own = backend.visibility_variables();
    const auto kept = std::find_if(own.begin(), own.end(), [&](std::string_view variable) {
        return environment.get(variable).has_value();
    });
    EnvironmentChanges changes;
    if (kept == own.end()) return changes;
    for (const Backend* other : all_backends()) {
        for (const auto variable : other->visibility_variables()) {
            if (variable == *kept || !environment.get(variable)) continue;
            changes[std::string(variable)] = std::nullopt;
        }
    }
    return changes;
}

Environment changed(const Environment& environment, const EnvironmentChanges& changes) {
    Environment result = environment;
    for (const auto& [name, value] : changes) result.change(name, value);
    return result;
}

std::string text_of(const GresShare& share) {
    std::vector<std::string> numbers;
    for (const int index : share.indices) numbers.push_back(std::to_string(index));
    return numbers.empty()
               ? fmt::format("{}:{}", share.name, share.count)
               : fmt::format("{}:{}(IDX:{})", share.name, share.count, join(numbers, ","));
}

// The share that holds the devices: the only one, or the one whose gres was asked for.
Result<const GresShare*> device_share(const Allotment& allotment) {
    std::vector<const GresShare*> found;
    const std::string asked = split(allotment.gres, ':').front();
    for (const auto& share : allotment.shares) {
        if (asked.empty() || share.name == asked) found.push_back(&share);
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) {
        return fail(ErrorKind::refused,
                    "Slurm gave this task no device and no visibility variable; ask for devices "
                    "with --gres");
    }
    std::vector<std::string> texts;
    for (const auto* share : found) texts.push_back(text_of(*share));
    return fail(ErrorKind::refused,
                fmt::format("Slurm gave this task {}, and which of them are the devices cannot be "
                            "told; name one with --gres",
                            join(texts, " and ")));
}

// A variable is in force: it must show as many devices as Slurm gave, or it is not Slurm's.
Result<void> check_count(const CallerMask& mask, const Allotment& allotment) {
    const auto share = device_share(allotment);
    if (!share || (*share)->indices.empty()) return {};
    if (mask.tokens.size() == (*share)->indices.size()) return {};
    return fail(ErrorKind::refused,
                fmt::format("{}={} shows {} devices, but Slurm gave this task {}; see whether a "
                            "start script of the site sets it",
                            mask.variable, printable(join(mask.tokens, ",")), mask.tokens.size(),
                            text_of(**share)));
}

// Slurm set nothing that this backend reads: its numbers are the device files' of gres.conf.
Result<GivenDevices> pin_share(const Backend& backend, const Discovery& discovery,
                               const Environment& environment, const GresShare& share) {
    GivenDevices given;
    given.request = "all";
    // Where the node hides what was not given (cgroups), all that is left is ours, and the
    // runtime's numbers are not Slurm's.
    if (discovery.devices.size() == static_cast<std::size_t>(share.count)) {
        given.why = fmt::format("Slurm gave {}: all devices that are seen here", text_of(share));
        return given;
    }
    if (share.indices.empty()) {
        return fail(ErrorKind::refused,
                    fmt::format("Slurm gave this task {} without saying which of the {} devices "
                                "here; declare them in gres.conf with File=",
                                text_of(share), discovery.devices.size()));
    }
    std::vector<std::string> tokens;
    for (const int index : share.indices) {
        const auto found =
            std::find_if(discovery.devices.begin(), discovery.devices.end(),
                         [&](const Device& device) { return device.index == index; });
        if (found == discovery.devices.end()) {
            return fail(ErrorKind::refused,
                        fmt::format("Slurm gave this task {}, but backend {} has no device {} here",
                                    text_of(share), backend.name(), index));
        }
        tokens.push_back(std::to_string(index));
    }
    OPGAUGE_TRY_ASSIGN(given.changes, backend.pin(environment, tokens));
    std::vector<std::string> set;
    for (const auto& [name, value] : given.changes) set.push_back(name + "=" + value.value_or(""));
    given.why = fmt::format("Slurm gave {} and set no variable of backend {}: {}", text_of(share),
                            backend.name(), join(set, " "));
    return given;
}

}  // namespace

Result<GivenDevices> given_devices(const Backend& backend, const Discovery& discovery,
                                   const Environment& environment, const Allotment& allotment) {
    if (!backend.accelerator()) return GivenDevices{{}, "", "backend needs no gres"};
    const EnvironmentChanges changes = without_other_layers(backend, environment);
    const Environment cleaned = changed(environment, changes);
    OPGAUGE_TRY_ASSIGN(const CallerMask mask, backend.caller_mask(cleaned));
    if (mask.variable.empty()) {
        OPGAUGE_TRY_ASSIGN(const GresShare* share, device_share(allotment));
        return pin_share(backend, discovery, cleaned, *share);
    }
    if (mask.hides_all) {
        return fail(ErrorKind::refused,
                    fmt::format("{} hides every device from this task; ask for devices with --gres",
                                mask.variable));
    }
    OPGAUGE_TRY(check_count(mask, allotment));
    return GivenDevices{changes, "all",
                        fmt::format("{}={}", mask.variable, join(mask.tokens, ","))};
}

Result<Allotment> ask_allotment(const Environment& environment, const std::string& gres) {
    Allotment allotment;
    allotment.gres = gres;
    auto job = environment.get_non_empty("SLURM_JOB_ID");
    if (!job) return allotment;
    // One task of an array has the array's own id, by which all tasks are printed.
    const auto array = environment.get_non_empty("SLURM_ARRAY_JOB_ID");
    const auto task = environment.get_non_empty("SLURM_ARRAY_TASK_ID");
    if (array && task) job = *array + "_" + *task;
    OPGAUGE_TRY_ASSIGN(
        const ToolOutput told,
        run_tool({"scontrol", "-d", "-o", "show", "job", *job}, environment, kDeadline));
    if (told.exit_code != 0) {
        return fail(ErrorKind::environment,
                    fmt::format("scontrol -d show job {}: {}", *job, printable(trim(told.err))));
    }
    allotment.shares = read_shares(told.out);
    // Nodes with equal shares are printed as one, "n[1-2]"; then none has this node's own name.
    const std::string node = environment.get("SLURMD_NODENAME").value_or("");
    const auto is_here = [&](const GresShare& share) { return share.node == node; };
    if (std::any_of(allotment.shares.begin(), allotment.shares.end(), is_here)) {
        std::erase_if(allotment.shares, [&](const GresShare& share) { return !is_here(share); });
    }
    return allotment;
}

}  // namespace opgauge
