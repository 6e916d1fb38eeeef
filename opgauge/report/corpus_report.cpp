// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/corpus_report.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"

#include <fmt/format.h>

namespace opgauge {

std::string corpus_text(const std::vector<CorpusNode>& nodes) {
    TextTable table({{"operators"}, {"stage"}, {"node"}, {"line", Align::right}});
    for (const auto& node : nodes) {
        std::vector<std::string> marks = node.marks;
        marks.insert(marks.end(), node.case_marks.begin(), node.case_marks.end());
        table.add_row({marks.empty() ? "-" : printable(join(marks, ","), 60),
                       node.stage.empty() ? "-" : node.stage, printable(node.id, 120),
                       node.line == 0 ? "-" : std::to_string(node.line)});
    }
    return table.render() + fmt::format("\n{} benchmark functions\n", nodes.size());
}

std::string known_text(const std::vector<KnownTest>& known) {
    if (known.empty()) {
        return "dtypes, cases and cost: known once a run has measured it\n";
    }
    TextTable table({{"node"},
                     {"dtypes"},
                     {"measured last"},
                     {"cases", Align::right},
                     {"s", Align::right},
                     {"outcome"},
                     {"device"},
                     {"when"}});
    const auto names = [](const std::vector<std::string>& dtypes) {
        return dtypes.empty() ? "-" : printable(join(dtypes, ","), 80);
    };
    for (const auto& test : known) {
        table.add_row({printable(test.node, 120), names(test.dtypes), names(test.measured),
                       std::to_string(test.cases), fmt::format("{:.1f}", test.seconds),
                       printable(test.outcome, 20), printable(test.device, 40), test.date});
    }
    return table.render();
}

Json corpus_json(const std::vector<CorpusNode>& nodes) {
    Json list = Json::array();
    for (const auto& node : nodes) {
        list.push_back({{"id", node.id},
                        {"file", node.file},
                        {"function", node.function},
                        {"marks", node.marks},
                        {"case_marks", node.case_marks},
                        {"stage", node.stage},
                        {"line", node.line}});
    }
    return {{"schema_version", 1}, {"nodes", list}, {"measured", Json::array()}};
}

}  // namespace opgauge
