// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/entry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace opgauge {
namespace {

constexpr std::array<const char*, 4> kStates = {"pending", "running", "finished", "not_run"};

Json rows_json(const RowCounts& rows) {
    return {{"ok", rows.ok},
            {"failed", rows.failed},
            {"invalid", rows.invalid},
            {"skipped", rows.skipped},
            {"flagged", rows.flagged}};
}

RowCounts rows_of(const Json& json) {
    const auto count = [&](const char* name) { return get_optional<int>(json, name).value_or(0); };
    return {count("ok"), count("failed"), count("invalid"), count("skipped"), count("flagged")};
}

std::optional<double> finite(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? value : std::nullopt;
}

Json member(const Json& json, const char* name) {
    if (!json.is_object() || !json.contains(name)) return nullptr;
    return json.at(name);
}

EntryState state_of(const std::string& name) {
    const auto* found = std::find(kStates.begin(), kStates.end(), name);
    return found == kStates.end() ? EntryState::pending
                                  : static_cast<EntryState>(found - kStates.begin());
}

// A result only where there is one: most of a batch's file is about entries that still wait.
void add_result(Json& json, const EntryResult& result) {
    json["status"] = result.status;
    json["reason"] = result.reason;
    json["exit_code"] = result.exit_code;
    json["outcome"] = {{"exit", optional_json(result.exit)},
                       {"signal", optional_json(result.signal)}};
    json["seconds"] = result.seconds;
    if (result.time) json["time"] = to_json(*result.time);
    json["rows"] = rows_json(result.rows);
    json["geomean_speedup"] = optional_json(result.geomean_speedup);
    json["geomean_n"] = result.geomean_n;
    json["markers"] = result.markers;
    json["tuning"] = result.tuning;
    json["timer"] = result.timer;
    json["device"] = result.device;
    json["setup_id"] = result.setup_id;
}

}  // namespace

EntryResult ended_with(std::string status, std::string reason) {
    EntryResult result;
    result.status = std::move(status);
    result.reason = std::move(reason);
    return result;
}

bool is_good(const EntryResult& result) {
    return result.status == "passed" || result.status == "skipped";
}

bool is_finished(const BatchItem& item) {
    return item.state == EntryState::finished && item.result.status != "interrupted";
}

Json to_json(const BatchItem& item) {
    Json json = {{"name", item.entry.name}};
    const auto add = [&](const char* name, const std::string& text) {
        if (!text.empty()) json[name] = text;
    };
    add("operator", item.entry.operator_);
    add("file", item.entry.file);
    add("node", item.entry.node);
    add("problem", item.entry.problem);
    json["state"] = kStates[static_cast<std::size_t>(item.state)];
    json["expected_s"] = optional_json(item.expected_s);
    add("run_dir", item.run_dir);
    add("lane", item.lane);
    json["attempts"] = item.attempts;
    if (item.alone) json["alone"] = true;
    if (!item.result.status.empty()) add_result(json, item.result);
    return json;
}

BatchItem item_of(const Json& json) {
    BatchItem item;
    item.entry = {get_string(json, "name"), get_string(json, "operator"), get_string(json, "file"),
                  get_string(json, "node"), get_string(json, "problem")};
    item.state = state_of(get_string(json, "state"));
    item.expected_s = finite(get_optional<double>(json, "expected_s"));
    item.run_dir = get_string(json, "run_dir");
    item.lane = get_string(json, "lane");
    item.attempts = get_optional<int>(json, "attempts").value_or(0);
    item.alone = get_optional<bool>(json, "alone").value_or(false);
    item.result = result_of(json);
    return item;
}

EntryResult result_of(const Json& json) {
    EntryResult result;
    result.status = get_string(json, "status");
    result.reason = get_string(json, "reason");
    result.exit_code = get_optional<int>(json, "exit_code").value_or(0);
    const Json outcome = member(json, "outcome");
    result.exit = get_optional<int>(outcome, "exit");
    result.signal = get_optional<int>(outcome, "signal");
    result.seconds = finite(get_optional<double>(json, "seconds")).value_or(0);
    result.time = time_parts_in(member(json, "time"));
    result.rows = rows_of(member(json, "rows"));
    result.geomean_speedup = finite(get_optional<double>(json, "geomean_speedup"));
    result.geomean_n = get_optional<int>(json, "geomean_n").value_or(0);
    result.markers = get_optional<std::map<std::string, int>>(json, "markers")
                         .value_or(std::map<std::string, int>());
    result.tuning = get_string(json, "tuning");
    result.timer = get_string(json, "timer");
    result.device = get_string(json, "device");
    result.setup_id = get_string(json, "setup_id");
    return result;
}

}  // namespace opgauge
