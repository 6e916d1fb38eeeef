// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/fake_telemetry.h"

#include "opgauge/base/json.h"
#include "opgauge/base/text.h"

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

constexpr const char* kVariable = "OPGAUGE_FAKE_TELEMETRY";

ViolationCounters violations_of(const Json& entry) {
    return {get_optional<std::uint64_t>(entry, "power_ns"),
            get_optional<std::uint64_t>(entry, "thermal_ns"),
            get_optional<std::uint64_t>(entry, "board_limit_ns"),
            get_optional<std::uint64_t>(entry, "reliability_ns")};
}

DeviceReading reading_of(const Json& entry) {
    DeviceReading reading;
    reading.sm_clock_mhz = get_optional<double>(entry, "sm_clock_mhz");
    reading.memory_clock_mhz = get_optional<double>(entry, "memory_clock_mhz");
    reading.max_sm_clock_mhz = get_optional<double>(entry, "max_sm_clock_mhz");
    reading.power_watts = get_optional<double>(entry, "power_watts");
    reading.temperature_celsius = get_optional<double>(entry, "temperature_celsius");
    const auto reasons = get_optional<std::vector<std::string>>(entry, "throttle_reasons");
    reading.throttle_reasons_known = reasons.has_value();
    reading.throttle_reasons = reasons.value_or(std::vector<std::string>{});
    return reading;
}

class FakeTelemetry final : public Telemetry {
  public:
    FakeTelemetry(Json script, Device device)
        : script_(std::move(script)), device_(std::move(device)) {}

    Result<DeviceReading> read() override {
        if (script_.empty()) return DeviceReading{};
        current_ = script_[std::min(next_++, script_.size() - 1)];
        const std::string error = get_string(current_, "error");
        if (!error.empty()) {
            return fail(ErrorKind::environment,
                        "the fake backend does not read device " + device_.token + ": " + error);
        }
        return reading_of(current_);
    }

    std::optional<ViolationCounters> violations() override {
        const auto counters = get_optional<Json>(current_, "violations");
        return counters ? std::optional(violations_of(*counters)) : std::nullopt;
    }

    // Of the readings that name it, in their order, whichever was handed out.
    std::optional<std::uint64_t> free_memory() override {
        std::vector<std::uint64_t> list;
        for (const auto& entry : script_) {
            const auto bytes = get_optional<std::uint64_t>(entry, "memory_free_bytes");
            if (bytes) list.push_back(*bytes);
        }
        if (list.empty()) return std::nullopt;
        return list[std::min(next_memory_++, list.size() - 1)];
    }

    // Of the reading handed out last.
    Result<HealthReading> health() override {
        if (!current_.contains("health")) return Telemetry::health();
        const Json& entry = current_.at("health");
        HealthReading health;
        health.uncorrected_errors = get_optional<std::uint64_t>(entry, "uncorrected_errors");
        health.repair_failed = get_optional<bool>(entry, "repair_failed");
        health.repair_pending = get_optional<bool>(entry, "repair_pending");
        health.memory_used_bytes = get_optional<std::uint64_t>(entry, "memory_used_bytes");
        return health;
    }

    // Those of the reading handed out last; where it names none, those of the device.
    Result<std::vector<DeviceProcess>> processes() override {
        const auto list = get_optional<Json>(current_, "processes");
        if (!list || !list->is_array()) return device_.processes;
        std::vector<DeviceProcess> processes;
        for (const auto& entry : *list) {
            processes.push_back({get_optional<long long>(entry, "pid").value_or(0),
                                 get_string(entry, "name"),
                                 get_optional<std::uint64_t>(entry, "memory_bytes")});
        }
        return processes;
    }

  private:
    Json script_;
    Device device_;
    Json current_ = Json::object();
    std::size_t next_ = 0;
    std::size_t next_memory_ = 0;
};

}  // namespace

Result<std::unique_ptr<Telemetry>> open_fake_telemetry(const Device& device,
                                                       const Environment& environment) {
    const std::string text(trim(environment.get(kVariable).value_or("[]")));
    OPGAUGE_TRY_ASSIGN(Json script,
                       text.starts_with('[') ? parse_json(text, kVariable) : read_json_file(text));
    if (!script.is_array()) {
        return fail(ErrorKind::usage, std::string(kVariable) + " is not a list of readings");
    }
    return std::unique_ptr<Telemetry>(std::make_unique<FakeTelemetry>(std::move(script), device));
}

}  // namespace opgauge
