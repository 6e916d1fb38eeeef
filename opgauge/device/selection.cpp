// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/device/backends.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

// A device of the caller's world and the token that names it there.
struct Visible {
    std::string token;
    Device device;
};

bool names_device(std::string_view text, const Device& device) {
    for (const auto& id : {device.uuid, std::optional(device.token)}) {
        if (id && starts_with_ignoring_case(*id, text)) return true;
    }
    return false;
}

// Devices whose UUID or token begins with `text`; a whole match wins over prefixes.
std::vector<const Visible*> matching(std::string_view text, const std::vector<Visible>& world) {
    std::vector<const Visible*> found;
    for (const auto& visible : world) {
        const bool whole = lower(visible.token) == lower(text) ||
                           (visible.device.uuid && lower(*visible.device.uuid) == lower(text));
        if (whole) return {&visible};
        if (names_device(text, visible.device)) found.push_back(&visible);
    }
    return found;
}

std::string world_text(const std::vector<Visible>& world, const CallerMask& mask) {
    std::vector<std::string> tokens;
    for (const auto& visible : world) tokens.push_back(visible.token);
    return mask.variable.empty()
               ? fmt::format("{} device{} here", world.size(), world.size() == 1 ? " is" : "s are")
               : fmt::format("{}={} shows {}", mask.variable, join(tokens, ","), world.size());
}

Result<std::vector<Visible>> visible_devices(const Backend& backend, const Discovery& discovery,
                                             const CallerMask& mask,
                                             const Environment& environment) {
    std::vector<Visible> all;
    for (const auto& device : discovery.devices) all.push_back({device.token, device});
    if (mask.variable.empty()) return all;
    if (mask.hides_all) {
        return fail(
            ErrorKind::environment,
            fmt::format("{} hides every device of backend {}; unset it or name devices in it{}",
                        mask.variable, backend.name(),
                        mask.notes.empty() ? "" : " (" + join(mask.notes, "; ") + ")"));
    }
    std::vector<Visible> world;
    for (const auto& token : mask.tokens) {
        OPGAUGE_TRY_ASSIGN(const std::optional<Device> device,
                           backend.device_of_token(discovery, mask, token, environment));
        // As the runtime does: the list ends at the first device that is not there.
        if (!device) break;
        world.push_back({token, *device});
    }
    if (world.empty()) {
        return fail(
            ErrorKind::environment,
            fmt::format("{}={} names no device that is here ({} found by {})", mask.variable,
                        join(mask.tokens, ","), discovery.devices.size(), discovery.source));
    }
    return world;
}

Result<std::size_t> position_of(std::string_view item, const std::vector<Visible>& world,
                                const CallerMask& mask) {
    if (const auto index = parse_unsigned(item)) {
        if (*index < world.size()) return static_cast<std::size_t>(*index);
        return fail(ErrorKind::usage, fmt::format("--devices {}: there is no device {}; {}", item,
                                                  item, world_text(world, mask)));
    }
    const auto found = matching(item, world);
    if (found.size() == 1) return static_cast<std::size_t>(found[0] - world.data());
    if (found.empty()) {
        return fail(ErrorKind::usage, fmt::format("--devices {}: no visible device has this id; {}",
                                                  printable(item), world_text(world, mask)));
    }
    return fail(ErrorKind::usage, fmt::format("--devices {}: {} devices have ids that begin so",
                                              printable(item), found.size()));
}

Result<std::vector<std::size_t>> positions_of(std::string_view item,
                                              const std::vector<Visible>& world,
                                              const CallerMask& mask) {
    if (item.empty()) {
        return fail(ErrorKind::usage, "--devices has an empty entry: a comma too many");
    }
    const auto dash = item.find('-');
    const auto first =
        dash == std::string_view::npos ? std::nullopt : parse_unsigned(item.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? std::nullopt : parse_unsigned(item.substr(dash + 1));
    if (!first || !last) {
        OPGAUGE_TRY_ASSIGN(const std::size_t position, position_of(item, world, mask));
        return std::vector{position};
    }
    if (*first > *last) {
        return fail(ErrorKind::usage, fmt::format("--devices {}: the range runs backwards", item));
    }
    std::vector<std::size_t> positions;
    for (auto i = *first; i <= *last; ++i) {
        OPGAUGE_TRY_ASSIGN(const std::size_t position, position_of(std::to_string(i), world, mask));
        positions.push_back(position);
    }
    return positions;
}

bool usable(const Visible& visible) {
    return visible.device.health != Health::unusable;
}

// An empty list of processes of a backend that cannot tell them is no proof of an idle device.
Result<void> check_processes_are_known(const std::vector<Visible>& world) {
    for (const auto& visible : world) {
        if (visible.device.processes_known || !visible.device.processes.empty()) continue;
        if (!usable(visible)) continue;
        return fail(ErrorKind::environment,
                    fmt::format("--devices idle: nothing here tells which processes use device {} "
                                "({}); name devices instead",
                                visible.token, visible.device.name));
    }
    return {};
}

Result<std::vector<std::size_t>> requested_positions(std::string_view request,
                                                     const std::vector<Visible>& world,
                                                     const CallerMask& mask) {
    std::vector<std::size_t> positions;
    if (request == "idle") OPGAUGE_TRY(check_processes_are_known(world));
    if (request.empty() || request == "all" || request == "idle") {
        for (std::size_t i = 0; i < world.size(); ++i) {
            if (!usable(world[i])) continue;
            if (request == "idle" && !world[i].device.processes.empty()) continue;
            positions.push_back(i);
            if (request.empty()) break;
        }
        if (!positions.empty()) return positions;
        return fail(ErrorKind::environment,
                    fmt::format("no {} device: {}", request == "idle" ? "idle" : "usable",
                                world_text(world, mask)));
    }
    for (const auto& item : split(request, ',')) {
        OPGAUGE_TRY_ASSIGN(const auto more, positions_of(trim(item), world, mask));
        for (const std::size_t position : more) {
            if (std::find(positions.begin(), positions.end(), position) != positions.end()) {
                return fail(ErrorKind::usage, fmt::format("--devices {} names device {} twice",
                                                          printable(request), position));
            }
            positions.push_back(position);
        }
    }
    return positions;
}

}  // namespace

Result<std::vector<SelectedDevice>> select_devices(const Backend& backend,
                                                   const Discovery& discovery,
                                                   std::string_view request,
                                                   const Environment& environment) {
    if (discovery.devices.empty()) {
        return fail(ErrorKind::environment,
                    fmt::format("backend {} has no device: {}", backend.name(),
                                join(discovery.reasons, "; ")));
    }
    OPGAUGE_TRY_ASSIGN(const CallerMask mask, backend.caller_mask(environment));
    OPGAUGE_TRY_ASSIGN(const auto world, visible_devices(backend, discovery, mask, environment));
    OPGAUGE_TRY_ASSIGN(const auto positions, requested_positions(trim(request), world, mask));
    std::vector<SelectedDevice> selected;
    for (const std::size_t position : positions) {
        const Visible& visible = world[position];
        if (!usable(visible)) {
            return fail(ErrorKind::environment,
                        fmt::format("device {} ({}) must not be measured on: {}", visible.token,
                                    visible.device.name, visible.device.health_detail));
        }
        OPGAUGE_TRY_ASSIGN(auto changes, backend.pin(environment, {visible.token}));
        selected.push_back({visible.device, visible.token, std::move(changes)});
    }
    return selected;
}

}  // namespace opgauge
