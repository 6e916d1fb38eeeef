// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/caliber.h"

#include "opgauge/base/digest.h"

#include <nlohmann/json.hpp>

namespace opgauge {
namespace {

// Sorted keys, so that the order in which facts were written never changes an id.
std::string canonical(const Json& value) {
    return nlohmann::json::parse(to_line(value)).dump();
}

Json at_pointer(const Json& identity, std::string_view pointer) {
    const Json::json_pointer path{std::string(pointer)};
    return identity.contains(path) ? identity.at(path) : Json(nullptr);
}

bool is_usual(const CaliberField& field, const Json& value) {
    return !field.usual.empty() && (value.is_null() || value == field.usual);
}

}  // namespace

const std::vector<CaliberField>& setup_fields() {
    static const std::vector<CaliberField> kFields = {
        {"backend", "/backend/name"},
        {"device.model", "/device/name"},
        {"device.memory", "/device/memory_total_bytes"},
        {"device.partition", "/device/partition"},
        {"device.power_limit", "/device/power_limit_watts"},
        {"clocks", "/clocks/policy"},
        {"driver", "/driver"},
        {"runtime", "/runtime"},
        {"host.cpu", "/host/cpu_model"},
        {"python", "/software/python"},
        {"torch", "/software/torch"},
        {"triton", "/software/triton"},
        {"corpus.name", "/corpus/name"},
        {"corpus.commit", "/corpus/commit"},
        {"corpus.dirty", "/corpus/dirty_digest"},
        {"corpus.mode", "/settings/mode"},
        {"corpus.warmup_ms", "/settings/warmup_ms"},
        {"corpus.iteration_ms", "/settings/iteration_ms"},
        {"environment", "/environment"},
        {"parallel_measure", "/settings/parallel_measure"},
        {"heat", "/settings/heat"},
        {"device_use", "/settings/device_use", "own"},
        {"tune_timing", "/tuning/timing", "full"},
    };
    return kFields;
}

Json setup_facts(const Json& identity) {
    Json facts = Json::object();
    for (const auto& field : setup_fields()) {
        Json value = at_pointer(identity, field.pointer);
        if (!is_usual(field, value)) facts[std::string(field.name)] = std::move(value);
    }
    return facts;
}

std::string setup_id(const Json& identity) {
    return short_digest(canonical(setup_facts(identity)));
}

std::string caliber_id(const Json& identity, std::string_view timer, const Json& timer_settings,
                       std::string_view winners_digest) {
    const Json facts = {{"setup", setup_facts(identity)},
                        {"timer", timer},
                        {"timer_settings", timer_settings},
                        {"winners", winners_digest}};
    return short_digest(canonical(facts));
}

std::vector<CaliberDifference> setup_differences(const Json& left, const Json& right) {
    std::vector<CaliberDifference> differences;
    for (const auto& field : setup_fields()) {
        Json a = at_pointer(left, field.pointer);
        Json b = at_pointer(right, field.pointer);
        if (is_usual(field, a)) a = field.usual;
        if (is_usual(field, b)) b = field.usual;
        if (a != b) differences.push_back({std::string(field.name), std::move(a), std::move(b)});
    }
    return differences;
}

}  // namespace opgauge
