// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/tuning_key.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace opgauge {
namespace {

constexpr std::array<std::pair<const char*, std::string Scope::*>, 7> kFacts = {{
    {"device_model", &Scope::device_model},
    {"driver", &Scope::driver},
    {"compiler", &Scope::compiler},
    {"kernel_source_hash", &Scope::kernel_source_hash},
    {"triton_source_hash", &Scope::triton_source_hash},
    {"config_list_digest", &Scope::config_list_digest},
    {"tuning_timer", &Scope::tuning_timer},
}};

Json plain_number(const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    const auto whole = value.is_number_float() ? integer_in<std::int64_t>(value) : std::nullopt;
    return whole ? Json(*whole) : value;
}

}  // namespace

Json to_json(const Scope& scope) {
    Json facts = Json::object();
    for (const auto& [name, member] : kFacts) facts[name] = scope.*member;
    facts["environment"] = Json::object();
    for (const auto& [name, value] : scope.environment) facts["environment"][name] = value;
    return facts;
}

Scope scope_from_json(const Json& facts) {
    Scope scope;
    for (const auto& [name, member] : kFacts) scope.*member = get_string(facts, name);
    const auto environment = get_optional<Json>(facts, "environment");
    if (!environment || !environment->is_object()) return scope;
    for (const auto& [name, value] : environment->items()) {
        if (value.is_string()) scope.environment[name] = value.get<std::string>();
    }
    return scope;
}

Result<void> set_fact(Scope& scope, std::string_view name, std::string_view value) {
    constexpr std::string_view kEnvironment = "environment.";
    if (name.starts_with(kEnvironment) && name.size() > kEnvironment.size()) {
        scope.environment[std::string(name.substr(kEnvironment.size()))] = value;
        return {};
    }
    std::vector<std::string> known;
    for (const auto& [fact, member] : kFacts) {
        known.emplace_back(fact);
        if (name != fact) continue;
        scope.*member = value;
        return {};
    }
    return fail(ErrorKind::usage,
                fmt::format("no fact of a scope is called '{}'{}; known: {}, "
                            "environment.NAME",
                            printable(name), suggestion(name, known), join(known, ", ")));
}

std::vector<ScopeDifference> scope_differences(const Scope& recorded, const Scope& now) {
    std::vector<ScopeDifference> differences;
    for (const auto& [name, member] : kFacts) {
        if (member == &Scope::triton_source_hash || recorded.*member == now.*member) continue;
        differences.push_back({name, recorded.*member, now.*member});
    }
    std::map<std::string, std::pair<std::string, std::string>> variables;
    for (const auto& [name, value] : recorded.environment) variables[name].first = value;
    for (const auto& [name, value] : now.environment) variables[name].second = value;
    for (const auto& [name, values] : variables) {
        if (values.first == values.second) continue;
        differences.push_back({"environment." + name, values.first, values.second});
    }
    return differences;
}

std::string_view name_of(Conditions conditions) {
    constexpr std::array<std::string_view, 3> kNames = {"noisy", "unknown", "quiet_serial"};
    return kNames.at(static_cast<std::size_t>(conditions));
}

std::string lookup_text(const Json& key) {
    if (!key.is_array()) return to_line(key);
    Json plain = Json::array();
    for (const auto& part : key) plain.push_back(plain_number(part));
    return to_line(plain);
}

std::string config_id(const Json& config) {
    std::map<std::string, Json> fields;
    for (const auto& [name, value] : config.items()) fields[name] = plain_number(value);
    Json sorted = Json::object();
    for (const auto& [name, value] : fields) sorted[name] = value;
    return to_line(sorted);
}

std::string config_text(const Json& config) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : config.items()) {
        parts.push_back(printable(name + "=" + to_line(value)));
    }
    return join(parts, " ");
}

Json time_json(double value) {
    if (std::isnan(value)) return nullptr;
    return std::isinf(value) ? Json(value > 0 ? "inf" : "-inf") : Json(value);
}

std::string winners_digest(std::span<const Winner> winners) {
    std::vector<std::string> lines;
    for (const auto& winner : winners) {
        lines.push_back(to_line(Json::array(
            {winner.key.kernel, lookup_text(winner.key.key), config_id(winner.config)})));
    }
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return sha256_hex(join(lines, "\n"));
}

}  // namespace opgauge
