// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/latency_report.h"

#include "opgauge/report/samples_report.h"
#include "opgauge/report/status_line.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

Row row_with(int index, double base_ns, double candidate_ns) {
    Row row;
    row.index = index;
    row.work.operator_name = "mm";
    row.work.dtype = "float16";
    row.work.shapes = Json::parse("[[384,384],[384,384]]");
    row.status = RowStatus::ok;
    SideSamples side;
    side.timer = "direct";
    side.values_ns = {base_ns};
    row.base = make_side_result(side, "complete");
    side.values_ns = {candidate_ns};
    row.candidate = make_side_result(side, "complete");
    return row;
}

RecordedRun run_with(std::vector<Row> rows) {
    RecordedRun run;
    run.identity = {{"run_id", "mm-1"}, {"device", {{"name", "Evil\x1b[31m device"}}}};
    run.rows = std::move(rows);
    run.status = Json{{"status", "passed"}};
    return run;
}

TEST(LatencyReport, TimesGetUnitsByTheirSize) {
    EXPECT_EQ(time_text(2.5), "2.5 ns");
    EXPECT_EQ(time_text(12'345), "12.35 us");
    EXPECT_EQ(time_text(1'234'567), "1.235 ms");
    EXPECT_EQ(time_text(5e9), "5.000 s");
}

TEST(LatencyReport, GeometricMeanLeavesOutFlaggedRowsAndStandsBesideItsN) {
    Row flagged = row_with(3, 1000, 1);
    flagged.flags = {"throttled"};
    const auto [mean, count] =
        geomean_speedup({row_with(1, 200, 100), row_with(2, 800, 100), flagged});
    EXPECT_DOUBLE_EQ(*mean, 4.0);
    EXPECT_EQ(count, 2U);
    const std::string text =
        latency_text(run_with({row_with(1, 200, 100), row_with(2, 800, 100), flagged}));
    EXPECT_NE(text.find("geometric mean of the speed-up 4.000 (n = 2 of 3 rows)"),
              std::string::npos);
}

TEST(LatencyReport, ARowShowsBothSidesTheRatioAndItsTimer) {
    const std::string text = latency_text(run_with({row_with(1, 6048, 139392)}));
    EXPECT_NE(text.find("   1  mm        float16  384x384, 384x384  6.05 us  139.39 us     0.043"
                        "          -  direct"),
              std::string::npos)
        << text;
}

TEST(LatencyReport, ForeignTextCannotDriveTheTerminal) {
    const std::string text = latency_text(run_with({}));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("Evil\\x1b[31m device"), std::string::npos);
}

TEST(LatencyReport, AnIncompleteRunIsCalledSo) {
    RecordedRun run = run_with({row_with(1, 2, 1)});
    run.status.reset();
    EXPECT_NE(latency_text(run).find("INCOMPLETE"), std::string::npos);
}

TEST(LatencyReport, CsvKeepsUnitsInItsColumnNamesAndLeavesUnknownCellsEmpty) {
    Row failed = row_with(2, 2, 1);
    failed.status = RowStatus::failed;
    failed.reason = "=cmd()";
    const std::string text = latency_csv(run_with({row_with(1, 300, 200), failed}));
    EXPECT_NE(text.find("base_median_ns"), std::string::npos);
    EXPECT_NE(
        text.find("1,mm,float16,\"384x384, 384x384\",ok,direct,300,300,300,1,200,200,200,1,1.5,,,"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find(",'=cmd(),"), std::string::npos) << text;
}

TEST(SamplesReport, DrawsEachSideAndSaysItsSummary) {
    RecordedSamples samples;
    samples.base = SideSamples{};
    samples.base->timer = "host";
    samples.base->values_ns = {1000, 1000, 1000, 1000, 1000, 2000};
    const std::string text = samples_text(row_with(1, 1, 1), samples);
    EXPECT_NE(text.find("base: timer host, 6 samples of 1 calls"), std::string::npos) << text;
    EXPECT_NE(text.find("   2.00 us |     *\n"), std::string::npos) << text;
    EXPECT_NE(text.find("   1.00 us |*****\n"), std::string::npos) << text;
    EXPECT_NE(text.find("candidate: no samples"), std::string::npos) << text;
}

TEST(SamplesReport, SaysWhatTheDeviceToldWhileSamplesWereTaken) {
    RecordedSamples samples;
    samples.base = SideSamples{};
    samples.base->values_ns = {10, 10, 10, 20};
    samples.base->bursts = {{1, 1980.0, 40.0, 85.4, {}},
                            {2, 1980.0, 40.0, 85.4, {}},
                            {1, 1200.0, std::nullopt, std::nullopt, {"sw_power_cap"}}};
    samples.base->dropped_bursts = 2;
    const std::string text = samples_text(row_with(1, 1, 1), samples);
    EXPECT_NE(text.find("      3 samples at 1980 MHz, 40 C, 85 W\n"
                        "      1 samples at 1200 MHz, -, -, sw_power_cap\n"
                        "  2 bursts were dropped: the device was slowed down\n"),
              std::string::npos)
        << text;
}

TEST(StatusLine, ElidesByCharactersNotBytes) {
    EXPECT_EQ(elided("abcdef", 6), "abcdef");
    EXPECT_EQ(elided("abcdefg", 6), "abc...");
    EXPECT_EQ(elided("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4", 6), "\u00e4\u00f6\u00fc...");
}

}  // namespace
}  // namespace opgauge
