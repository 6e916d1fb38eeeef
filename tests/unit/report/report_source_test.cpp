// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/report_source.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

std::string data(const std::string& path) {
    return std::string(OPGAUGE_SOURCE_DIR) + "/tests/data/" + path;
}

TEST(ReportSource, AFolderIsARunOrABatchAndAFileAComparison) {
    EXPECT_EQ(open_report(data("report/runs/mm"))->kind, ReportKind::run);
    EXPECT_EQ(open_report(data("report"))->kind, ReportKind::batch);
    EXPECT_EQ(open_report(data("report/runs"))->runs.size(), 2U);
    EXPECT_EQ(open_report(data("compare/comparison.json"))->kind, ReportKind::comparison);
    const auto missing = open_report(data("nothing"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::usage);
}

TEST(ReportSource, OperatorsOfTheBatchWithoutARunAreNamed) {
    const auto summaries = operator_summaries(*open_report(data("report")));
    ASSERT_EQ(summaries.size(), 3U);
    EXPECT_EQ(summaries[0].name, "mm");
    EXPECT_EQ(summaries[0].flagged, 1U);
    EXPECT_EQ(summaries[0].geomean_n, 5U);
    EXPECT_DOUBLE_EQ(*summaries[0].lowest, 1.2);
    EXPECT_EQ(summaries[1].bad, 1U);
    EXPECT_EQ(summaries[2].name, "bmm");
    EXPECT_EQ(summaries[2].status, "pending");
    EXPECT_EQ(summaries[2].rows, 0U);
}

TEST(ReportSource, TheTotalIsOverAllRowsOfAllRuns) {
    const OperatorSummary total = total_of(*open_report(data("report")));
    EXPECT_EQ(total.rows, 8U);
    EXPECT_EQ(total.ok, 7U);
    EXPECT_EQ(total.geomean_n, 6U);
    EXPECT_NEAR(*total.geomean, 1.313, 0.001);
}

TEST(ReportSource, OneSetupHasOneCaliberLine) {
    const auto lines = caliber_lines(*open_report(data("report")));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0],
              "caliber 0123456789abcdef: fake Fake 1, driver 1.0, torch 2.9, triton 3.6, timer "
              "graph, tuning off, corpus flaggems aaaa1111");
}

}  // namespace
}  // namespace opgauge
