// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/batch.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <system_error>

namespace opgauge {
namespace {

constexpr int kSchemaVersion = 1;

std::vector<std::string> strings_of(const Json& json, const char* name) {
    return get_optional<std::vector<std::string>>(json, name).value_or(std::vector<std::string>());
}

Json devices_json(const std::vector<BatchDevice>& devices) {
    Json json = Json::array();
    for (const auto& device : devices) {
        json.push_back({{"token", device.token},
                        {"request", device.request},
                        {"name", device.name},
                        {"uuid", device.uuid}});
    }
    return json;
}

// null where no lane of this machine ran.
Json time_json(const Batch& batch) {
    if (batch.lane_seconds <= 0) return nullptr;
    return {{"lane_seconds", batch.lane_seconds}, {"outside", to_json(batch.outside)}};
}

void read_header(const Json& json, Batch& batch) {
    batch.argv = strings_of(json, "argv");
    batch.working_directory = get_string(json, "working_directory");
    batch.run_options = strings_of(json, "run_options");
    batch.lane_options = strings_of(json, "lane_options");
    batch.lanes_per_device = get_optional<int>(json, "lanes_per_device").value_or(1);
    batch.device_request = get_string(json, "device_request");
    if (json.contains("selection")) batch.selection = json["selection"];
    if (json.contains("facts")) batch.facts = json["facts"];
    batch.backend = get_string(json, "backend");
    batch.started = get_string(json, "started");
    batch.updated = get_string(json, "updated");
    batch.state = get_string(json, "state");
    batch.exit_code = get_optional<int>(json, "exit_code").value_or(0);
    const Json time = json.value("time", Json(nullptr));
    batch.lane_seconds = get_optional<double>(time, "lane_seconds").value_or(0);
    const bool known = time.is_object() && time.contains("outside");
    if (known) batch.outside = time_parts_in(time["outside"]).value_or(TimeParts());
    for (const auto& device : json.value("devices", Json::array())) {
        batch.devices.push_back({get_string(device, "token"), get_string(device, "request"),
                                 get_string(device, "name"), get_string(device, "uuid")});
    }
}

}  // namespace

std::vector<BatchDevice> lane_devices(const Batch& batch) {
    std::vector<BatchDevice> lanes;
    // One of each device first: where there is little to do, it is spread over all.
    for (int round = 0; round < batch.lanes_per_device; ++round) {
        lanes.insert(lanes.end(), batch.devices.begin(), batch.devices.end());
    }
    return lanes;
}

Json header_json(const Batch& batch) {
    return {{"schema_version", kSchemaVersion},
            {"state", batch.state},
            {"exit_code", batch.exit_code},
            {"started", batch.started},
            {"updated", batch.updated},
            {"argv", batch.argv},
            {"working_directory", batch.working_directory},
            {"run_options", batch.run_options},
            {"lane_options", batch.lane_options},
            {"lanes_per_device", batch.lanes_per_device},
            {"device_request", batch.device_request},
            {"selection", batch.selection},
            {"facts", batch.facts},
            {"backend", batch.backend},
            {"devices", devices_json(batch.devices)},
            {"time", time_json(batch)}};
}

Result<Batch> read_batch(const std::filesystem::path& folder) {
    const auto file = folder / BatchFiles::kBatch;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
        return fail(ErrorKind::usage, fmt::format("{} is no batch: it has no {}",
                                                  printable(folder.string()), BatchFiles::kBatch));
    }
    OPGAUGE_TRY_ASSIGN(const Json json, read_json_file(file));
    const auto version = get_optional<int>(json, "schema_version");
    if (version != kSchemaVersion || !json.contains("operators") || !json["operators"].is_array()) {
        return fail(
            ErrorKind::failed,
            fmt::format("{} has schema version {}, this opgauge reads {}", printable(file.string()),
                        version ? std::to_string(*version) : "none", kSchemaVersion));
    }
    Batch batch;
    batch.folder = std::filesystem::absolute(folder, error).lexically_normal();
    try {
        read_header(json, batch);
    } catch (const nlohmann::json::exception& wrong) {
        return fail(ErrorKind::failed,
                    fmt::format("{}: {}", printable(file.string()), printable(wrong.what())));
    }
    for (const auto& item : json["operators"]) batch.items.push_back(item_of(item));
    return batch;
}

std::map<std::string, int> counts_of(const Batch& batch) {
    std::map<std::string, int> counts;
    for (const auto& item : batch.items) {
        switch (item.state) {
            case EntryState::pending:
                ++counts["waiting"];
                break;
            case EntryState::running:
                ++counts["running"];
                break;
            case EntryState::finished:
                ++counts[item.result.status];
                break;
            case EntryState::not_run:
                ++counts["not_run"];
                break;
        }
    }
    return counts;
}

}  // namespace opgauge
