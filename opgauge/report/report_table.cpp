// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/report_table.h"

#include "opgauge/base/text.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/report/work_rates.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr std::size_t kLongestCell = 60;
constexpr std::size_t kLongestReason = 160;

std::string number(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string median_text(const std::optional<SideResult>& side) {
    return side && side->summary ? time_text(side->summary->median) : "-";
}

std::string marks_text(const Row& row) {
    std::vector<std::string> marks;
    if (row.status != RowStatus::ok) marks.emplace_back(name_of(row.status));
    if (!row.fallback.empty()) marks.push_back("fallback=" + row.fallback);
    marks.insert(marks.end(), row.flags.begin(), row.flags.end());
    return join(marks, ",");
}

std::vector<std::string> rate_cells(const Row& row, const Ceilings& ceilings, bool with_limit) {
    const Achieved rates = achieved(row, row.candidate ? row.candidate : row.base, ceilings);
    std::vector<std::string> cells = {
        rates.bytes_per_s ? rate_text(*rates.bytes_per_s, "B/s") : "-",
        rates.flops_per_s ? rate_text(*rates.flops_per_s, "FLOP/s") : "-"};
    if (!with_limit) return cells;
    cells.push_back(rates.limit_share
                        ? fmt::format("{:.1f} % ({})", *rates.limit_share * 100, rates.bound)
                        : "-");
    return cells;
}

}  // namespace

std::string rate_text(double per_second, const char* unit) {
    for (const auto& [scale, prefix] :
         {std::pair{1e12, "T"}, std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}}) {
        if (per_second >= scale)
            return fmt::format("{:.3g} {}{}", per_second / scale, prefix, unit);
    }
    return fmt::format("{:.3g} {}", per_second, unit);
}

ReportTable case_table(const ReportSource& source) {
    const bool with_work = has_work(source);
    const bool with_limit = with_work && has_ceilings(source);
    ReportTable table;
    table.columns = {{"operator"},
                     {"dtype"},
                     {"shapes"},
                     {"base", Align::right},
                     {"candidate", Align::right},
                     {"speed-up", Align::right},
                     {"precision", Align::right}};
    if (with_work) {
        table.columns.push_back({"bandwidth", Align::right});
        table.columns.push_back({"arithmetic", Align::right});
    }
    if (with_limit) table.columns.push_back({"of the limit", Align::right});
    table.columns.push_back({"flags"});
    for (const auto& run : source.runs) {
        const Ceilings ceilings = ceilings_of(run.identity);
        for (const auto& row : run.rows) {
            const auto precision = row.precision();
            std::vector<std::string> cells = {
                row.work.operator_name,
                row.work.dtype,
                shapes_text(row.work),
                median_text(row.base),
                median_text(row.candidate),
                number(row.speedup()),
                precision ? fmt::format("{:.2f} %", *precision * 100) : "-"};
            if (with_work) {
                for (auto& cell : rate_cells(row, ceilings, with_limit)) cells.push_back(cell);
            }
            cells.push_back(marks_text(row));
            table.rows.push_back(std::move(cells));
        }
    }
    return table;
}

ReportTable trouble_table(const ReportSource& source) {
    ReportTable table;
    table.columns = {{"operator"}, {"dtype"}, {"shapes"}, {"flags"}, {"reason"}};
    for (const auto& run : source.runs) {
        for (const auto& row : run.rows) {
            if (row.status == RowStatus::ok && row.flags.empty()) continue;
            std::string reason = row.reason;
            if (reason.empty()) reason = get_string(row.error, "message");
            table.rows.push_back({row.work.operator_name, row.work.dtype, shapes_text(row.work),
                                  marks_text(row), std::move(reason)});
        }
    }
    return table;
}

ReportTable operator_table(const ReportSource& source) {
    ReportTable table;
    table.columns = {{"operator"},
                     {"status"},
                     {"rows", Align::right},
                     {"ok", Align::right},
                     {"bad", Align::right},
                     {"skipped", Align::right},
                     {"flagged", Align::right},
                     {"geomean", Align::right},
                     {"n", Align::right},
                     {"lowest", Align::right},
                     {"highest", Align::right},
                     {"reason"}};
    for (const auto& summary : operator_summaries(source)) {
        table.rows.push_back({summary.name, summary.status, std::to_string(summary.rows),
                              std::to_string(summary.ok), std::to_string(summary.bad),
                              std::to_string(summary.skipped), std::to_string(summary.flagged),
                              number(summary.geomean), std::to_string(summary.geomean_n),
                              number(summary.lowest), number(summary.highest), summary.reason});
    }
    return table;
}

std::string table_text(const ReportTable& table) {
    TextTable text(table.columns);
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (const auto& cell : row) {
            const bool last = cells.size() + 1 == row.size();
            cells.push_back(printable(cell, last ? kLongestReason : kLongestCell));
        }
        text.add_row(std::move(cells));
    }
    return text.render();
}

}  // namespace opgauge
