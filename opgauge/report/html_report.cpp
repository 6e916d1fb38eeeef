// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/html_report.h"

#include "opgauge/report/html_data.h"

#include <array>
#include <stdexcept>
#include <utility>

// Defined in sources that cmake/embed_text.cmake writes from opgauge/report/html/.
extern const std::string_view report_template;
extern const std::string_view report_style;
extern const std::string_view report_script;
extern const std::string_view chart_library;
extern const std::string_view chart_licence;

namespace opgauge {
namespace {

using Part = std::pair<std::string_view, std::string_view>;

// The template's marks, each replaced once; what is put in is never looked at again.
template <std::size_t N>
std::string filled(std::string_view text, const std::array<Part, N>& parts) {
    std::string result;
    for (const auto& [mark, content] : parts) {
        const auto place = text.find(mark);
        if (place == std::string_view::npos)
            throw std::logic_error("a mark is not in the template");
        result += text.substr(0, place);
        result += content;
        text.remove_prefix(place + mark.size());
    }
    result += text;
    return result;
}

}  // namespace

Result<std::string> report_html(const ReportSource& source, std::string_view opgauge_version) {
    OPGAUGE_TRY_ASSIGN(const std::string raw_details, html_details(source));
    const std::string data = without_tags(to_line(html_data(source, opgauge_version)));
    const std::string details = without_tags(raw_details);
    // In the order in which they stand there.
    return filled<6>(report_template, {{{"@STYLE@", report_style},
                                        {"@DATA@", data},
                                        {"@DETAILS@", details},
                                        {"@CHART_LICENCE@", chart_licence},
                                        {"@CHART_LIBRARY@", chart_library},
                                        {"@SCRIPT@", report_script}}});
}

}  // namespace opgauge
