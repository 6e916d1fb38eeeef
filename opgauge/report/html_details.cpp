// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/run_dir.h"
#include "opgauge/report/html_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace opgauge {
namespace {

// For the whole file, and for a side at least and at most.
constexpr std::size_t kAllSamples = 800'000;
constexpr std::size_t kFewestSamples = 24;
constexpr std::size_t kMostSamples = 2'000;

// A sample as a step of this share of its side's median: short in the file, finer than any clock.
constexpr double kStepsPerMedian = 1e5;

// Numbers of a row with six digits: more than any time here is known to.
Json shortened(const Json& value) {
    if (value.is_number_float()) {
        return std::strtod(fmt::format("{:.6g}", value.get<double>()).c_str(), nullptr);
    }
    if (!value.is_structured()) return value;
    Json copy = value;
    for (auto& item : copy) item = shortened(item);
    return copy;
}

// Neighbours with one clock are one entry: [samples, MHz].
Json clocks_json(const std::vector<Burst>& bursts) {
    Json list = Json::array();
    for (const auto& burst : bursts) {
        const Json clock = optional_json(burst.sm_clock_mhz);
        if (!list.empty() && list.back()[1] == clock) {
            list.back()[0] = list.back()[0].get<std::size_t>() + burst.samples;
        } else {
            list.push_back({burst.samples, clock});
        }
    }
    return list;
}

void add_samples(const std::optional<SideSamples>& samples, std::size_t most, Json& json) {
    const auto median = get_optional<double>(json, "median_ns");
    if (!samples || samples->values_ns.empty() || !median || !(*median > 0)) return;
    const std::size_t count = samples->values_ns.size();
    const std::size_t step = (count + most - 1) / most;
    Json values = Json::array();
    for (std::size_t i = 0; i < count; i += step) {
        values.push_back(std::llround((samples->values_ns[i] / *median - 1) * kStepsPerMedian));
    }
    json["taken"] = count;
    json["step"] = step;
    json["values"] = std::move(values);
    json["clocks"] = clocks_json(samples->bursts);
}

// As rows.jsonl has it, with the samples beside.
Json side_json(const Json& row, const char* name, const std::optional<SideSamples>& samples,
               std::size_t most) {
    Json json = shown(shortened(row.at(name)));
    if (json.is_object()) add_samples(samples, most, json);
    return json;
}

// What the page's columns do not have. Empty members are left out: most are.
Json detail_json(const Row& row, const RecordedSamples& samples, std::size_t most) {
    const Json whole = to_json(row);
    Json detail = Json::object();
    for (const char* name : {"case_id", "caliber_id", "winners_digest", "reason", "fallback_detail",
                             "error", "check", "work", "seconds"}) {
        const Json& value = whole.at(name);
        if (!value.is_null() && value != "") detail[name] = shown(shortened(value));
    }
    detail["case"] = Json::object();
    for (const char* name : {"layout", "attributes", "node"}) {
        detail["case"][name] = shown(whole.at("case").at(name));
    }
    detail["base"] = side_json(whole, "base", samples.base, most);
    detail["candidate"] = side_json(whole, "candidate", samples.candidate, most);
    return detail;
}

}  // namespace

Result<std::string> html_details(const ReportSource& source) {
    std::size_t rows = 0;
    for (const auto& run : source.runs) rows += run.rows.size();
    const std::size_t most =
        std::clamp(kAllSamples / std::max<std::size_t>(2 * rows, 1), kFewestSamples, kMostSamples);
    std::string text;
    for (const auto& run : source.runs) {
        std::map<int, RecordedSamples> samples;
        std::error_code error;
        if (std::filesystem::exists(run.directory / RunFiles::kSamples, error)) {
            OPGAUGE_TRY_ASSIGN(samples, read_all_samples(run.directory));
        }
        for (const auto& row : run.rows) {
            text += to_line(detail_json(row, samples[row.index], most)) + "\n";
        }
    }
    return text;
}

}  // namespace opgauge
