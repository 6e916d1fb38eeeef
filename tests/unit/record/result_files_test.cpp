// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/result_reader.h"
#include "opgauge/record/result_writer.h"
#include "opgauge/record/run_dir.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

Row row_number(int index) {
    Row row;
    row.index = index;
    row.work.operator_name = "mm";
    row.status = RowStatus::skipped;
    row.reason = "left out";
    return row;
}

ResultWriter writer_with_identity(const std::filesystem::path& path) {
    auto writer = ResultWriter::open(path);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->write_identity({{"schema_version", 1}, {"run_id", "mm-1"}}));
    return std::move(*writer);
}

TEST(ResultFiles, RowsAreThereBeforeTheRunEndsAndTheRunCountsAsIncomplete) {
    const testing::TempDir temp;
    ResultWriter writer = writer_with_identity(temp.path());
    ASSERT_TRUE(writer.append(row_number(1), {}, {}));
    ASSERT_TRUE(writer.append(row_number(2), {}, {}));
    const auto run = read_run(temp.path());
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->rows.size(), 2U);
    EXPECT_FALSE(run->status);
    ASSERT_TRUE(writer.write_status({{"status", "passed"}}));
    EXPECT_TRUE(read_run(temp.path())->status);
}

TEST(ResultFiles, ATornLastLineIsDroppedAndSaid) {
    const testing::TempDir temp;
    ResultWriter writer = writer_with_identity(temp.path());
    ASSERT_TRUE(writer.append(row_number(1), {}, {}));
    std::ofstream(temp.path() / RunFiles::kRows, std::ios::app) << "{\"schema_version\":1,\"ca";
    const auto run = read_run(temp.path());
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->rows.size(), 1U);
    ASSERT_EQ(run->warnings.size(), 1U);
    EXPECT_NE(run->warnings[0].find("line 2 of"), std::string::npos);
    EXPECT_NE(run->warnings[0].find("is torn and was dropped"), std::string::npos);
}

TEST(ResultFiles, ABrokenLineInTheMiddleIsAnErrorNotASilentLoss) {
    const testing::TempDir temp;
    ResultWriter writer = writer_with_identity(temp.path());
    std::ofstream(temp.path() / RunFiles::kRows, std::ios::app) << "rubbish\n";
    ASSERT_TRUE(writer.append(row_number(1), {}, {}));
    const auto run = read_run(temp.path());
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("line 1 of"), std::string::npos);
}

TEST(ResultFiles, RawSamplesComeBackInTheirOrder) {
    const testing::TempDir temp;
    ResultWriter writer = writer_with_identity(temp.path());
    SideSamples base;
    base.timer = "host";
    base.calls_per_sample = 4;
    base.values_ns = {3, 1, 2};
    ASSERT_TRUE(writer.append(row_number(7), base, {}));
    const auto samples = read_samples(temp.path(), 7);
    ASSERT_TRUE(samples && samples->base);
    EXPECT_EQ(samples->base->values_ns, (std::vector<double>{3, 1, 2}));
    EXPECT_EQ(samples->base->calls_per_sample, 4);
    EXPECT_FALSE(samples->candidate);
}

TEST(ResultFiles, BurstsStandBesideTheirSamples) {
    const testing::TempDir temp;
    ResultWriter writer = writer_with_identity(temp.path());
    SideSamples base;
    base.timer = "event";
    base.values_ns = {3, 1, 2};
    base.dropped_bursts = 1;
    base.bursts = {{2, 1980.0, 43.0, 650.5, {"sw_power_cap"}}, {1, {}, {}, {}, {}}};
    ASSERT_TRUE(writer.append(row_number(1), base, {}));
    const auto line = read_json_file(temp.path() / RunFiles::kSamples);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ((*line)["dropped_bursts"], 1);
    EXPECT_EQ((*line)["bursts"], Json::parse(R"([
        {"samples": 2, "sm_clock_mhz": 1980, "temperature_celsius": 43, "power_watts": 650.5,
         "throttle_reasons": ["sw_power_cap"]},
        {"samples": 1, "sm_clock_mhz": null, "temperature_celsius": null, "power_watts": null,
         "throttle_reasons": []}])"));
}

TEST(ResultFiles, AFolderThatIsNoRunIsAUsageErrorThatSaysWhy) {
    const testing::TempDir temp;
    const auto run = read_run(temp.path());
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::usage);
    EXPECT_NE(run.error().message.find("it has no run_identity.json"), std::string::npos);
}

}  // namespace
}  // namespace opgauge
