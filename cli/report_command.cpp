// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/report/html_report.h"
#include "opgauge/report/run_reports.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace opgauge::cli {
namespace {

Result<std::string> format_of(const ReportOptions& options) {
    if (!options.format.empty()) return options.format;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kEndings = {
        {{"", "text"},
         {".txt", "text"},
         {".md", "markdown"},
         {".csv", "csv"},
         {".json", "json"},
         {".html", "html"},
         {".htm", "html"}}};
    const std::string ending = std::filesystem::path(options.output).extension().string();
    for (const auto& [known, format] : kEndings) {
        if (ending == known) return std::string(format);
    }
    return fail(ErrorKind::usage,
                fmt::format("report --output {}: no format is known by this ending; name one with "
                            "--format (text, markdown, csv, json, html) or end the name with .txt, "
                            ".md, .csv, .json or .html",
                            printable(options.output)));
}

// What the other formats say in their text.
void tell_warnings(const ReportSource& source) {
    for (const auto& warning : source_warnings(source)) {
        fmt::print(stderr, "opgauge: {}\n", warning);
    }
}

Result<std::string> make_report(const ReportSource& source, const std::string& format) {
    if (format == "markdown") return report_markdown(source);
    if (format == "csv") return report_csv(source);
    if (format == "json") return to_text(report_json(source));
    if (format == "html") return report_html(source, OPGAUGE_VERSION);
    return report_text(source);
}

}  // namespace

Result<int> report_command(const ReportOptions& options) {
    OPGAUGE_TRY_ASSIGN(const std::string format, format_of(options));
    OPGAUGE_TRY_ASSIGN(const ReportSource source, open_report(options.path));
    OPGAUGE_TRY_ASSIGN(const std::string text, make_report(source, format));
    if (format == "csv") tell_warnings(source);
    if (options.output.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return ok;
    }
    OPGAUGE_TRY(write_file_atomically(options.output, text));
    fmt::print("{}\n", options.output);
    return ok;
}

}  // namespace opgauge::cli
