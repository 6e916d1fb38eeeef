// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/markdown.h"
#include "opgauge/report/report_table.h"
#include "opgauge/report/run_reports.h"
#include "opgauge/report/where_report.h"

#include <fmt/format.h>

#include <filesystem>

namespace opgauge {
namespace {

// GitHub takes comments of 65,536 characters.
constexpr std::size_t kTableBytes = 48'000;
constexpr std::size_t kTroubleBytes = 4'000;
constexpr std::size_t kOperatorBytes = 8'000;
constexpr std::size_t kLongestLine = 600;

std::string details(const std::string& title, const std::string& content) {
    return "<details><summary>" + title + "</summary>\n\n" + content + "\n</details>\n";
}

// Lines that are made for a terminal: their names and paths are foreign.
std::string quoted_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += "- " + markdown_text(line, kLongestLine) + "\n";
    return text;
}

std::string headline(const ReportSource& source) {
    const OperatorSummary total = total_of(source);
    std::string text = total.geomean
                           ? fmt::format("**Speed-up {:.3f}** (geometric mean, n = {} of {} rows",
                                         *total.geomean, total.geomean_n, total.rows)
                           : fmt::format("**No speed-up** ({} rows", total.rows);
    if (source.runs.size() != 1) text += fmt::format(", {} runs", source.runs.size());
    text += ")";
    if (total.lowest) text += fmt::format(", {:.3f} to {:.3f}", *total.lowest, *total.highest);
    return text + fmt::format("; failed or invalid {}, skipped {}, flagged {}.\n", total.bad,
                              total.skipped, total.flagged);
}

// Operators whose run did not pass.
ReportTable not_passed(const ReportSource& source) {
    ReportTable table;
    table.columns = {{"operator"}, {"status"}, {"reason"}};
    for (const auto& summary : operator_summaries(source)) {
        if (summary.status == "passed") continue;
        table.rows.push_back({summary.name, summary.status, summary.reason});
    }
    return table;
}

// Whoever reads a pull request has not the folders of the machine that measured.
std::string name_of_folder(const ReportSource& source) {
    const auto path = std::filesystem::path(source.path).lexically_normal();
    const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
    return markdown_text(name.string());
}

std::string time_markdown(const BatchTime& time) {
    std::string text = quoted_lines(time_head(time));
    const ReportTable parts = parts_table(time);
    if (parts.rows.empty()) return text + "\n";
    text += "\n" + markdown_table(parts, kTroubleBytes);
    const ReportTable costliest = costliest_table(time);
    if (!costliest.rows.empty()) text += "\n" + markdown_table(costliest, kTroubleBytes);
    return details("Where the time went", text);
}

std::string runs_markdown(const ReportSource& source) {
    std::string text =
        fmt::format("### opgauge {} {}\n\n", name_of(source.kind), name_of_folder(source));
    text += headline(source) + "\n" + quoted_lines(caliber_lines(source));
    text += quoted_lines(source_warnings(source));
    const ReportTable bad_runs = not_passed(source);
    if (!bad_runs.rows.empty()) {
        text += "\nNot passed:\n\n" + markdown_table(bad_runs, kTroubleBytes);
    }
    const ReportTable trouble = trouble_table(source);
    if (!trouble.rows.empty()) {
        text += fmt::format("\nRows without a number, or disturbed ({}):\n\n", trouble.rows.size());
        text += markdown_table(trouble, kTroubleBytes);
    }
    text += "\n";
    if (source.kind == ReportKind::batch) {
        text += details("By operator", markdown_table(operator_table(source), kOperatorBytes));
    }
    if (source.time) text += time_markdown(*source.time);
    const ReportTable cases = case_table(source);
    return text + details(fmt::format("All {} rows", cases.rows.size()),
                          markdown_table(cases, kTableBytes));
}

std::string comparison_markdown(const ReportSource& source) {
    const ReportTable rows = comparison_table(source.comparison);
    ReportTable decided = rows;
    decided.rows.clear();
    for (const auto& row : rows.rows) {
        const std::string& verdict = row[kVerdictColumn];
        if (verdict == "faster" || verdict == "slower") decided.rows.push_back(row);
    }
    std::string text = "### opgauge comparison\n\n";
    text += quoted_lines(comparison_counts(source.comparison)) + "\n";
    text += quoted_lines(comparison_head(source.comparison)) + "\n";
    if (!decided.rows.empty()) {
        text += "Faster or slower:\n\n" + markdown_table(decided, kOperatorBytes) + "\n";
    }
    text += details(fmt::format("All {} compared rows", rows.rows.size()),
                    markdown_table(rows, kTableBytes));
    const ReportTable left_out = left_out_table(source.comparison);
    if (left_out.rows.empty()) return text;
    return text + details(fmt::format("{} left out", left_out.rows.size()),
                          markdown_table(left_out, kTroubleBytes));
}

}  // namespace

std::string report_markdown(const ReportSource& source) {
    return source.kind == ReportKind::comparison ? comparison_markdown(source)
                                                 : runs_markdown(source);
}

}  // namespace opgauge
