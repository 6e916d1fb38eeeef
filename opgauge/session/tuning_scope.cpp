// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_scope.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace opgauge {
namespace {

// Variables that change what a tuner may choose or what its compiler makes of it.
constexpr std::array<std::string_view, 5> kTuningPrefixes = {"TRITON", "USE_FLAGTUNE", "FLAGGEMS_",
                                                             "FLAG_GEMS_", "FLAGTREE_"};
// Where something lies, and what is only printed, changes no choice.
constexpr std::array<std::string_view, 5> kPlaces = {"_DIR", "_PATH", "_HOME", "_URL", "_FILE"};
constexpr std::array<std::string_view, 2> kPrinting = {"TRITON_PRINT_AUTOTUNING",
                                                       "TRITON_KERNEL_DUMP"};

bool changes_tuning(std::string_view name) {
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
    if (!std::any_of(kTuningPrefixes.begin(), kTuningPrefixes.end(), begins)) return false;
    if (std::any_of(kPlaces.begin(), kPlaces.end(), ends)) return false;
    return std::find(kPrinting.begin(), kPrinting.end(), name) == kPrinting.end();
}

// A child's report tells less than its hooks: "triton 3.6.0" and "triton 3.6.0 sm_90" are one
// compiler here, and the rest is compared when a key is asked about.
bool may_be(const std::string& recorded, const std::string& now) {
    if (now.empty()) return true;
    if (!recorded.starts_with(now)) return false;
    constexpr std::string_view kVersion =
        ".+-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return recorded.size() == now.size() || kVersion.find(recorded[now.size()]) == kVersion.npos;
}

// The winner's own values wherever a fact is one of a kernel, or is not known yet.
Scope comparable(const Scope& recorded, const Scope& now) {
    Scope scope = recorded;
    scope.device_model = now.device_model;
    scope.driver = now.driver;
    scope.environment = now.environment;
    if (!may_be(recorded.compiler, now.compiler)) scope.compiler = now.compiler;
    return scope;
}

}  // namespace

Scope scope_before_child(const Plan& plan, const Environment& child) {
    Scope scope;
    scope.device_model = plan.device.device.name;
    scope.driver = plan.discovery.driver.value_or("");
    for (const auto& [name, value] : child.values()) {
        if (changes_tuning(name)) scope.environment[name] = value;
    }
    return scope;
}

std::string compiler_of(const Json& device) {
    const std::string version = get_string(device, "triton");
    return version.empty() ? version : "triton " + version;
}

std::vector<ScopeDifference> differences_of_all(const Replay& source, const Scope& now,
                                                const std::set<std::string>& accepted) {
    std::vector<ScopeDifference> closest;
    for (const auto& [kernel, winners] : source.by_kernel()) {
        for (const auto& winner : winners) {
            auto differences = scope_differences(winner.scope, comparable(winner.scope, now));
            std::erase_if(differences,
                          [&](const auto& one) { return accepted.contains(one.fact); });
            if (differences.empty()) return {};
            if (closest.empty() || differences.size() < closest.size()) {
                closest = std::move(differences);
            }
        }
    }
    return closest;
}

std::string differences_text(const std::vector<ScopeDifference>& differences) {
    std::string text = "scope differs";
    const auto shown = [](const std::string& value) {
        return value.empty() ? std::string("unknown") : printable(value);
    };
    for (const auto& one : differences) {
        text += fmt::format("; {}: recorded {}, now {}", printable(one.fact), shown(one.recorded),
                            shown(one.now));
    }
    return text;
}

}  // namespace opgauge
