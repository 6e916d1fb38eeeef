// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/row.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr std::size_t kKeptInvalidReasons = 3;

Json side_to_json(const std::optional<SideResult>& side) {
    if (!side) return nullptr;
    Json json = {{"timer", side->timer},
                 {"timer_settings", side->timer_settings},
                 {"calls_per_sample", side->calls_per_sample},
                 {"stopped_by", side->stopped_by},
                 {"first_call_ns", optional_json(side->first_call_ns)},
                 {"invalid_samples", side->invalid_count}};
    if (side->no_device_work) json["no_device_work"] = true;
    if (side->sm_clock_mhz) json["sm_clock_mhz"] = *side->sm_clock_mhz;
    if (side->temperature_celsius) json["temperature_celsius"] = *side->temperature_celsius;
    if (side->dropped_bursts > 0) json["dropped_bursts"] = side->dropped_bursts;
    if (!side->invalid_samples.empty()) json["invalid_reasons"] = side->invalid_samples;
    if (!side->summary) return json;
    const Summary& summary = *side->summary;
    json["samples"] = summary.count;
    json["median_ns"] = summary.median;
    json["lower_quartile_ns"] = summary.lower_quartile;
    json["upper_quartile_ns"] = summary.upper_quartile;
    json["minimum_ns"] = summary.minimum;
    json["maximum_ns"] = summary.maximum;
    json["outliers"] = summary.outliers;
    json["median_interval_ns"] = nullptr;
    if (summary.median_interval) {
        json["median_interval_ns"] = {summary.median_interval->first,
                                      summary.median_interval->second};
    }
    json["relative_precision"] = optional_json(summary.relative_precision());
    return json;
}

std::optional<Summary> summary_from_json(const Json& json) {
    const auto median = get_optional<double>(json, "median_ns");
    if (!median) return std::nullopt;
    Summary summary;
    summary.median = *median;
    summary.count = get_optional<std::size_t>(json, "samples").value_or(0);
    summary.lower_quartile = get_optional<double>(json, "lower_quartile_ns").value_or(*median);
    summary.upper_quartile = get_optional<double>(json, "upper_quartile_ns").value_or(*median);
    summary.minimum = get_optional<double>(json, "minimum_ns").value_or(*median);
    summary.maximum = get_optional<double>(json, "maximum_ns").value_or(*median);
    summary.outliers = get_optional<std::size_t>(json, "outliers").value_or(0);
    const auto interval = get_optional<std::vector<double>>(json, "median_interval_ns");
    if (interval && interval->size() == 2) {
        summary.median_interval = std::pair{(*interval)[0], (*interval)[1]};
    }
    return summary;
}

std::optional<SideResult> side_from_json(const Json& row, std::string_view name) {
    const auto found = row.find(std::string(name));
    if (found == row.end() || !found->is_object()) return std::nullopt;
    SideResult side;
    side.timer = get_string(*found, "timer");
    side.timer_settings = found->value("timer_settings", Json::object());
    side.calls_per_sample = get_optional<int>(*found, "calls_per_sample").value_or(1);
    side.stopped_by = get_string(*found, "stopped_by");
    side.first_call_ns = get_optional<double>(*found, "first_call_ns");
    side.invalid_count = get_optional<std::size_t>(*found, "invalid_samples").value_or(0);
    side.invalid_samples = get_optional<std::vector<std::string>>(*found, "invalid_reasons")
                               .value_or(side.invalid_samples);
    side.sm_clock_mhz = get_optional<double>(*found, "sm_clock_mhz");
    side.temperature_celsius = get_optional<double>(*found, "temperature_celsius");
    side.dropped_bursts = get_optional<int>(*found, "dropped_bursts").value_or(0);
    side.no_device_work = get_optional<bool>(*found, "no_device_work").value_or(false);
    side.summary = summary_from_json(*found);
    return side;
}

std::optional<RowStatus> status_named(std::string_view name) {
    for (const RowStatus status :
         {RowStatus::ok, RowStatus::failed, RowStatus::invalid, RowStatus::skipped}) {
        if (name_of(status) == name) return status;
    }
    return std::nullopt;
}

// Why a side gives no time, or an empty text.
std::string trouble_of(const std::optional<SideResult>& side, std::string_view name) {
    if (!side || side->summary || side->no_device_work) return {};
    const std::string first =
        side->invalid_samples.empty() ? std::string("no samples") : side->invalid_samples.front();
    return fmt::format("{}: {}", name, first);
}

// The sides that launch nothing, in words, or an empty text.
std::string idle_sides(const Row& row) {
    const bool base = row.base && row.base->no_device_work;
    const bool candidate = row.candidate && row.candidate->no_device_work;
    if (base && candidate) return "each side";
    return base ? "base" : candidate ? "candidate" : "";
}

}  // namespace

std::string_view name_of(RowStatus status) {
    switch (status) {
        case RowStatus::ok:
            return "ok";
        case RowStatus::failed:
            return "failed";
        case RowStatus::invalid:
            return "invalid";
        case RowStatus::skipped:
            return "skipped";
    }
    return "failed";
}

std::optional<double> Row::speedup() const {
    if (status != RowStatus::ok || !base || !candidate) return std::nullopt;
    if (!base->summary || !candidate->summary || base->timer != candidate->timer) {
        return std::nullopt;
    }
    return base->summary->median / candidate->summary->median;
}

std::optional<double> Row::precision() const {
    std::optional<double> worst;
    for (const auto* side : {&base, &candidate}) {
        if (!*side) continue;
        const auto precision =
            (*side)->summary ? (*side)->summary->relative_precision() : std::nullopt;
        if (!precision) return std::nullopt;
        worst = std::max(worst.value_or(0.0), *precision);
    }
    return worst;
}

SideResult make_side_result(const SideSamples& samples, std::string stopped_by) {
    SideResult result;
    result.timer = samples.timer;
    result.timer_settings = samples.settings;
    result.calls_per_sample = samples.calls_per_sample;
    result.summary = summarize(samples.values_ns);
    result.stopped_by = std::move(stopped_by);
    result.first_call_ns = samples.first_call_ns;
    result.no_device_work = samples.no_device_work;
    result.dropped_bursts = samples.dropped_bursts;
    std::vector<double> clocks;
    for (const auto& burst : samples.bursts) {
        if (burst.sm_clock_mhz) clocks.push_back(*burst.sm_clock_mhz);
        if (burst.temperature_celsius) {
            result.temperature_celsius =
                std::max(result.temperature_celsius.value_or(0), *burst.temperature_celsius);
        }
    }
    if (const auto summary = summarize(clocks)) result.sm_clock_mhz = summary->median;
    result.invalid_count = samples.invalid.size();
    result.invalid_samples.assign(
        samples.invalid.begin(),
        samples.invalid.begin() +
            static_cast<std::ptrdiff_t>(std::min(samples.invalid.size(), kKeptInvalidReasons)));
    return result;
}

void judge(Row& row) {
    if (row.status == RowStatus::failed || row.status == RowStatus::skipped) return;
    if (!row.base && !row.candidate) {
        row.status = RowStatus::invalid;
        row.reason = "no side was measured";
        return;
    }
    std::vector<std::string> troubles;
    for (const auto& text :
         {trouble_of(row.base, "base"), trouble_of(row.candidate, "candidate")}) {
        if (!text.empty()) troubles.push_back(text);
    }
    if (!troubles.empty()) {
        row.status = RowStatus::invalid;
        row.reason = fmt::format("{}", fmt::join(troubles, "; "));
        return;
    }
    if (const std::string idle = idle_sides(row); !idle.empty()) {
        row.status = RowStatus::skipped;
        row.reason = fmt::format("no_device_work: {} launches nothing on the device", idle);
        return;
    }
    row.status = RowStatus::ok;
    if (!row.base || !row.candidate) {
        row.reason = "one-sided: no speed-up";
    } else if (row.base->timer != row.candidate->timer) {
        row.reason = fmt::format("no speed-up: base timed with {}, candidate with {}",
                                 row.base->timer, row.candidate->timer);
    }
}

Json to_json(const Row& row) {
    return {{"schema_version", kRowSchemaVersion},
            {"index", row.index},
            {"case", to_json(row.work)},
            {"case_id", row.case_id},
            {"caliber_id", row.caliber_id},
            {"winners_digest", row.winners_digest},
            {"status", name_of(row.status)},
            {"reason", row.reason},
            {"base", side_to_json(row.base)},
            {"candidate", side_to_json(row.candidate)},
            {"speedup", optional_json(row.speedup())},
            {"relative_precision", optional_json(row.precision())},
            {"fallback", row.fallback.empty() ? Json(nullptr) : Json(row.fallback)},
            {"fallback_detail", row.fallback.empty() ? Json(nullptr) : Json(row.fallback_detail)},
            {"flags", row.flags},
            {"error", row.error},
            {"check", row.check},
            {"work", row.work_amount},
            {"seconds", row.seconds},
            {"waited_s", row.waited_s}};
}

Result<Row> row_from_json(const Json& value) {
    if (!value.is_object()) return fail(ErrorKind::failed, "a row is not a JSON object");
    const int version = get_optional<int>(value, "schema_version").value_or(0);
    if (version != kRowSchemaVersion) {
        return fail(ErrorKind::failed,
                    fmt::format("a row has schema version {}, this opgauge reads {}", version,
                                kRowSchemaVersion));
    }
    if (!value.contains("case")) return fail(ErrorKind::failed, "a row has no member 'case'");
    Row row;
    OPGAUGE_TRY_ASSIGN(row.work, case_from_json(value.at("case")));
    const auto status = status_named(get_string(value, "status"));
    if (!status) return fail(ErrorKind::failed, "a row has no known status");
    row.status = *status;
    row.index = get_optional<int>(value, "index").value_or(0);
    row.case_id = get_string(value, "case_id");
    row.caliber_id = get_string(value, "caliber_id");
    row.winners_digest = get_string(value, "winners_digest");
    row.reason = get_string(value, "reason");
    row.base = side_from_json(value, "base");
    row.candidate = side_from_json(value, "candidate");
    row.flags = get_optional<std::vector<std::string>>(value, "flags").value_or(row.flags);
    row.fallback = get_optional<std::string>(value, "fallback").value_or("");
    row.fallback_detail = get_optional<std::string>(value, "fallback_detail").value_or("");
    row.error = value.value("error", Json(nullptr));
    row.check = value.value("check", Json(nullptr));
    row.work_amount = value.value("work", Json(nullptr));
    row.seconds = get_optional<double>(value, "seconds").value_or(0.0);
    row.waited_s = get_optional<double>(value, "waited_s").value_or(0.0);
    return row;
}

}  // namespace opgauge
