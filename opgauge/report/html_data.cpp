// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/html_data.h"

#include "opgauge/base/text.h"
#include "opgauge/record/caliber.h"
#include "opgauge/report/where_report.h"
#include "opgauge/report/work_rates.h"

#include <fmt/format.h>

#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace opgauge {
namespace {

constexpr std::size_t kLongestText = 4000;

// Six digits: more than any time here is known to, and half of the file.
Json rounded(const std::optional<double>& value) {
    if (!value) return nullptr;
    return std::strtod(fmt::format("{:.6g}", *value).c_str(), nullptr);
}

// Texts that many rows share, each kept once.
class Strings {
  public:
    std::size_t number_of(const std::string& text) {
        const auto [place, fresh] = numbers_.try_emplace(text, list_.size());
        if (fresh) list_.push_back(printable(text, kLongestText));
        return place->second;
    }
    const Json& list() const { return list_; }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    Json list_ = Json::array();
};

std::optional<double> median_of(const std::optional<SideResult>& side) {
    return side && side->summary ? std::optional(side->summary->median) : std::nullopt;
}

class Columns {
  public:
    void add(const Row& row, std::size_t run, const Ceilings& ceilings) {
        const auto& shown_side = row.candidate ? row.candidate : row.base;
        add("run", run);
        add("index", row.index);
        add_text("operator", row.work.operator_name);
        add_text("dtype", row.work.dtype);
        add_text("shapes", shapes_text(row.work));
        add_text("status", std::string(name_of(row.status)));
        add_text("timer", shown_side ? shown_side->timer : "");
        add_text("fallback", row.fallback);
        add_text("flags", join(row.flags, ","));
        add("base_ns", rounded(median_of(row.base)));
        add("candidate_ns", rounded(median_of(row.candidate)));
        add("speedup", rounded(row.speedup()));
        add("precision", rounded(row.precision()));
        add("elements", rounded(element_count(row.work)));
        add_rates(row, ceilings);
    }
    Json json() && {
        columns_["strings"] = strings_.list();
        return std::move(columns_);
    }

  private:
    void add(const char* name, Json value) { columns_[name].push_back(std::move(value)); }
    void add_text(const char* name, const std::string& text) {
        add(name, strings_.number_of(text));
    }
    void add_rates(const Row& row, const Ceilings& ceilings) {
        const Achieved base = achieved(row, row.base, ceilings);
        const Achieved candidate = achieved(row, row.candidate, ceilings);
        add("base_bytes_per_s", rounded(base.bytes_per_s));
        add("base_flops_per_s", rounded(base.flops_per_s));
        add("base_limit", rounded(base.limit_share));
        add("candidate_bytes_per_s", rounded(candidate.bytes_per_s));
        add("candidate_flops_per_s", rounded(candidate.flops_per_s));
        add("candidate_limit", rounded(candidate.limit_share));
        add_text("bound", std::string(row.candidate ? candidate.bound : base.bound));
    }

    Json columns_ = Json::object();
    Strings strings_;
};

Json run_json(const RecordedRun& run, std::size_t setup) {
    const Json status = run.status.value_or(Json::object());
    return {{"run_id", get_string(run.identity, "run_id")},
            {"directory", run.directory.string()},
            {"created_utc", get_string(run.identity, "created_utc")},
            {"setup", setup},
            {"winners_digest",
             get_string(run.identity.value("tuning", Json::object()), "winners_digest")},
            {"seconds", optional_json(get_optional<double>(status, "seconds"))}};
}

Json operators_json(const ReportSource& source) {
    Json list = Json::array();
    for (const auto& summary : operator_summaries(source)) {
        list.push_back({{"name", summary.name},
                        {"status", summary.status},
                        {"reason", summary.reason},
                        {"rows", summary.rows},
                        {"ok", summary.ok},
                        {"bad", summary.bad},
                        {"skipped", summary.skipped},
                        {"flagged", summary.flagged},
                        {"geomean", rounded(summary.geomean)},
                        {"geomean_n", summary.geomean_n},
                        {"lowest", rounded(summary.lowest)},
                        {"highest", rounded(summary.highest)}});
    }
    return list;
}

Json ceilings_json(const Ceilings& ceilings) {
    Json matmul = Json::object();
    for (const auto& [dtype, flops] : ceilings.matmul_flops_per_s) matmul[dtype] = flops;
    return {{"copy_bytes_per_s", optional_json(ceilings.copy_bytes_per_s)},
            {"matmul_flops_per_s", matmul}};
}

// The identity of the first run of each setup stands for all of it.
struct Setups {
    std::unordered_map<std::string, std::size_t> numbers;
    Json list = Json::array();

    std::size_t number_of(const Json& identity) {
        const auto [place, fresh] = numbers.try_emplace(setup_id(identity), list.size());
        if (fresh) {
            list.push_back({{"setup_id", place->first},
                            {"facts", shown(setup_facts(identity))},
                            {"identity", shown(identity)},
                            {"ceilings", ceilings_json(ceilings_of(identity))}});
        }
        return place->second;
    }
};

Json time_json(const std::optional<BatchTime>& time) {
    if (!time) return nullptr;
    Json json = to_json(*time);
    json["head"] = time_head(*time);
    return shown(json);
}

}  // namespace

Json shown(const Json& value) {
    if (value.is_string()) return printable(value.get<std::string>(), kLongestText);
    if (value.is_array()) {
        Json list = Json::array();
        for (const auto& item : value) list.push_back(shown(item));
        return list;
    }
    if (!value.is_object()) return value;
    Json object = Json::object();
    for (const auto& [name, item] : value.items()) object[printable(name)] = shown(item);
    return object;
}

std::string without_tags(std::string json) {
    std::string result;
    result.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            result += "\\u003c";  // only strings hold it, so that it may be written so
        } else {
            result.push_back(c);
        }
    }
    return result;
}

Json html_data(const ReportSource& source, std::string_view opgauge_version) {
    Json data = {{"schema_version", 1},
                 {"kind", name_of(source.kind)},
                 {"path", printable(source.path)},
                 {"opgauge_version", opgauge_version}};
    Setups setups;
    Columns columns;
    Json runs = Json::array();
    std::size_t count = 0;
    for (const auto& run : source.runs) {
        const Ceilings ceilings = ceilings_of(run.identity);
        for (const auto& row : run.rows) columns.add(row, runs.size(), ceilings);
        count += run.rows.size();
        runs.push_back(shown(run_json(run, setups.number_of(run.identity))));
    }
    data["count"] = count;
    data["cases"] = std::move(columns).json();
    data["runs"] = std::move(runs);
    data["operators"] = shown(operators_json(source));
    data["setups"] = std::move(setups.list);
    data["calibers"] = shown(caliber_lines(source));
    data["warnings"] = shown(source_warnings(source));
    data["comparison"] = shown(source.comparison);
    data["time"] = time_json(source.time);
    return data;
}

}  // namespace opgauge
