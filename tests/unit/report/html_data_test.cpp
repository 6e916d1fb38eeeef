// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/html_data.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

RecordedRun run_of(std::vector<Row> rows) {
    RecordedRun run;
    run.identity = {{"run_id", "mm-1"}, {"device", {{"name", "Fake"}}}};
    run.status = Json{{"status", "passed"}};
    run.rows = std::move(rows);
    return run;
}

Row row_named(const std::string& name, int index) {
    Row row;
    row.index = index;
    row.work.operator_name = name;
    row.status = RowStatus::ok;
    SideSamples side;
    side.timer = "graph";
    side.values_ns = {1234.56789};
    row.base = make_side_result(side, "complete");
    side.values_ns = {1000};
    row.candidate = make_side_result(side, "complete");
    return row;
}

TEST(HtmlData, NoTagCanBeginInIt) {
    EXPECT_EQ(without_tags(R"({"a":"</script><!--"})"), R"({"a":"\u003c/script>\u003c!--"})");
    EXPECT_EQ(Json::parse(without_tags(R"(["<b>"])")), Json::array({"<b>"}));
}

TEST(HtmlData, ControlCharactersAreShownInNamesAndTexts) {
    const Json foreign = {{"a\nb", {"x\x1b[31m", 3, nullptr}}};
    EXPECT_EQ(shown(foreign), Json::parse(R"({"a\\x0ab": ["x\\x1b[31m", 3, null]})"));
}

TEST(HtmlData, CasesAreColumnsAndEachTextIsKeptOnce) {
    ReportSource source;
    source.runs.push_back(run_of({row_named("mm", 1), row_named("bmm", 2), row_named("mm", 3)}));
    const Json data = html_data(source, "1.2.3");
    const Json& cases = data.at("cases");
    EXPECT_EQ(data.at("count"), 3);
    EXPECT_EQ(cases.at("operator")[0], cases.at("operator")[2]);
    EXPECT_EQ(cases.at("strings")[cases.at("operator")[1].get<std::size_t>()], "bmm");
    EXPECT_EQ(cases.at("base_ns")[0], 1234.57);
    EXPECT_EQ(cases.at("speedup")[0], 1.23457);
    EXPECT_EQ(cases.at("candidate_limit")[0], nullptr);
    EXPECT_EQ(data.at("setups").size(), 1U);
    EXPECT_EQ(data.at("setups")[0].at("identity").at("run_id"), "mm-1");
}

TEST(HtmlData, AReportWithoutRowsIsAReport) {
    ReportSource source;
    source.runs.push_back(run_of({}));
    const Json data = html_data(source, "1.2.3");
    EXPECT_EQ(data.at("count"), 0);
    EXPECT_EQ(*html_details(source), "");
}

}  // namespace
}  // namespace opgauge
