// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/run_reports.h"

#include "opgauge/base/csv.h"
#include "opgauge/base/text.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/report/report_table.h"
#include "opgauge/report/tuning_report.h"
#include "opgauge/report/where_report.h"
#include "opgauge/report/work_rates.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

std::string lines_text(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

std::string totals_text(const ReportSource& source) {
    const OperatorSummary total = total_of(source);
    std::string text = fmt::format("{}, {}: ok {}, failed or invalid {}, skipped {}, flagged {}\n",
                                   counted(source.runs.size(), "run"),
                                   counted(static_cast<std::size_t>(total.rows), "row"), total.ok,
                                   total.bad, total.skipped, total.flagged);
    if (total.geomean) {
        text += fmt::format("geometric mean of the speed-up {:.3f} (n = {} of {} rows)\n",
                            *total.geomean, total.geomean_n, total.rows);
    }
    return text;
}

std::string batch_text(const ReportSource& source) {
    return lines_text(caliber_lines(source)) + "\n" + table_text(operator_table(source)) + "\n" +
           lines_text(source_warnings(source)) + totals_text(source) +
           (source.time ? "\n" + where_text(*source.time) : "");
}

// The latency table has no room for them.
std::string rates_text(const ReportSource& source) {
    if (!has_work(source)) return "";
    const std::string note =
        has_ceilings(source) ? ""
                             : "ceilings unknown: what the device can reach was not measured, so "
                               "no share of a limit is shown\n";
    return "\n" + table_text(case_table(source)) + note;
}

std::string comparison_report_text(const Json& comparison) {
    std::string text = lines_text(comparison_head(comparison)) + "\n";
    text += table_text(comparison_table(comparison));
    const ReportTable left_out = left_out_table(comparison);
    if (!left_out.rows.empty()) text += "\n" + table_text(left_out);
    return text + "\n" + lines_text(comparison_counts(comparison));
}

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
}

std::vector<std::string> rate_cells(const Row& row, const Ceilings& ceilings) {
    std::vector<std::string> cells = {number(get_optional<double>(row.work_amount, "bytes")),
                                      number(get_optional<double>(row.work_amount, "flops"))};
    for (const auto* side : {&row.base, &row.candidate}) {
        const Achieved rates = achieved(row, *side, ceilings);
        cells.push_back(number(rates.bytes_per_s));
        cells.push_back(number(rates.flops_per_s));
        cells.push_back(number(rates.limit_share));
    }
    return cells;
}

std::string runs_csv(const ReportSource& source) {
    std::vector<std::string> titles = latency_csv_titles();
    titles.insert(titles.begin(), "run");
    for (const char* title :
         {"work_bytes", "work_flops", "base_bytes_per_s", "base_flops_per_s", "base_limit_share",
          "candidate_bytes_per_s", "candidate_flops_per_s", "candidate_limit_share"}) {
        titles.emplace_back(title);
    }
    std::string text = csv_line(titles);
    for (const auto& run : source.runs) {
        const Ceilings ceilings = ceilings_of(run.identity);
        for (const auto& row : run.rows) {
            std::vector<std::string> cells = latency_csv_cells(row);
            cells.insert(cells.begin(), run.directory.filename().string());
            for (auto& cell : rate_cells(row, ceilings)) cells.push_back(std::move(cell));
            for (auto& cell : cells) cell = printable(cell);
            text += csv_line(cells);
        }
    }
    return text;
}

std::string json_cell(const Json& value) {
    if (value.is_null()) return "";
    if (!value.is_array()) {
        return value.is_string() ? printable(value.get<std::string>()) : printable(to_line(value));
    }
    std::vector<std::string> parts;
    for (const auto& part : value) parts.push_back(json_cell(part));
    return join(parts, ";");
}

std::string comparison_csv(const Json& comparison) {
    const std::vector<std::string> titles = {
        "operator", "dtype",     "shapes", "a",     "b", "ratio",      "interval", "verdict",
        "next",     "processes", "timer",  "flags", "p", "adjusted_p", "case_id"};
    std::string text = csv_line(titles);
    for (const auto& row : comparison.at("rows")) {
        std::vector<std::string> cells;
        for (const auto& title : titles) {
            cells.push_back(row.is_object() ? json_cell(row.value(title, Json(nullptr))) : "");
        }
        text += csv_line(cells);
    }
    return text;
}

Json achieved_json(const Achieved& rates) {
    return {{"bytes_per_s", optional_json(rates.bytes_per_s)},
            {"flops_per_s", optional_json(rates.flops_per_s)},
            {"limit_share", optional_json(rates.limit_share)},
            {"bound", rates.bound.empty() ? Json(nullptr) : Json(rates.bound)}};
}

Json run_json(const RecordedRun& run) {
    const Ceilings ceilings = ceilings_of(run.identity);
    Json rows = Json::array();
    for (const auto& row : run.rows) {
        Json json = to_json(row);
        json["achieved"] = {{"base", achieved_json(achieved(row, row.base, ceilings))},
                            {"candidate", achieved_json(achieved(row, row.candidate, ceilings))}};
        rows.push_back(std::move(json));
    }
    return {{"directory", run.directory.string()},
            {"identity", run.identity},
            {"status", optional_json(run.status)},
            {"warnings", run.warnings},
            {"rows", rows}};
}

Json summary_json(const OperatorSummary& summary) {
    return {{"rows", summary.rows},
            {"ok", summary.ok},
            {"failed_or_invalid", summary.bad},
            {"skipped", summary.skipped},
            {"flagged", summary.flagged},
            {"geomean_speedup", optional_json(summary.geomean)},
            {"geomean_n", summary.geomean_n}};
}

}  // namespace

std::string report_text(const ReportSource& source) {
    if (source.kind == ReportKind::comparison) return comparison_report_text(source.comparison);
    if (source.kind == ReportKind::batch) return batch_text(source);
    const RecordedRun& run = source.runs.front();
    return latency_text(run) + tuning_text(run) + rates_text(source);
}

std::string report_csv(const ReportSource& source) {
    return source.kind == ReportKind::comparison ? comparison_csv(source.comparison)
                                                 : runs_csv(source);
}

Json report_json(const ReportSource& source) {
    Json json = {{"schema_version", 1}, {"kind", name_of(source.kind)}, {"path", source.path}};
    if (source.kind == ReportKind::comparison) {
        json["comparison"] = source.comparison;
        return json;
    }
    json["warnings"] = source_warnings(source);
    json["total"] = summary_json(total_of(source));
    json["batch"] = source.batch;
    json["time"] = source.time ? to_json(*source.time) : Json(nullptr);
    json["runs"] = Json::array();
    for (const auto& run : source.runs) json["runs"].push_back(run_json(run));
    return json;
}

}  // namespace opgauge
