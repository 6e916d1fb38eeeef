// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/row.h"

#include <gtest/gtest.h>

#include <limits>

namespace opgauge {
namespace {

SideSamples samples_of(const std::string& timer, std::vector<double> raw) {
    SideSamples samples;
    samples.timer = timer;
    for (const double value : raw) {
        if (auto reason = why_invalid(value, 0)) {
            samples.invalid.push_back(*reason);
        } else {
            samples.values_ns.push_back(value);
        }
    }
    return samples;
}

Row row_of(const SideSamples& base, const SideSamples& candidate) {
    Row row;
    row.index = 1;
    row.work.operator_name = "mm";
    row.work.dtype = "float16";
    row.work.shapes = Json::parse("[[384,384],[384,384]]");
    row.status = RowStatus::ok;
    row.base = make_side_result(base, "complete");
    row.candidate = make_side_result(candidate, "complete");
    judge(row);
    return row;
}

TEST(Row, SpeedupIsBaseMedianOverCandidateMedian) {
    const Row row = row_of(samples_of("direct", {300}), samples_of("direct", {200}));
    EXPECT_EQ(row.status, RowStatus::ok);
    EXPECT_DOUBLE_EQ(*row.speedup(), 1.5);
}

// C11: zero latencies are invalid with a reason; neither 1.0 nor a huge ratio appears.
TEST(Row, ZeroLatenciesAreInvalidWithAReasonAndNoSpeedup) {
    const std::vector<std::pair<double, double>> pairs = {{300, 0}, {0, 200}, {0, 0}};
    const std::vector<std::string> reasons = {"candidate: zero", "base: zero",
                                              "base: zero; candidate: zero"};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const Row row =
            row_of(samples_of("direct", {pairs[i].first}), samples_of("direct", {pairs[i].second}));
        EXPECT_EQ(row.status, RowStatus::invalid);
        EXPECT_EQ(row.reason, reasons[i]);
        EXPECT_FALSE(row.speedup());
        EXPECT_TRUE(to_json(row)["speedup"].is_null());
    }
}

TEST(Row, TwoTimersNeverMakeARatio) {
    const Row row = row_of(samples_of("graph", {300}), samples_of("event", {200}));
    EXPECT_FALSE(row.speedup());
    EXPECT_EQ(row.reason, "no speed-up: base timed with graph, candidate with event");
}

TEST(Row, AOneSidedRowIsOkWithoutASpeedup) {
    Row row = row_of(samples_of("direct", {300}), samples_of("direct", {200}));
    row.base.reset();
    row.reason.clear();
    judge(row);
    EXPECT_EQ(row.status, RowStatus::ok);
    EXPECT_EQ(row.reason, "one-sided: no speed-up");
    EXPECT_FALSE(row.speedup());
}

TEST(Row, AFailedRowStaysFailedWhateverItsSidesHave) {
    Row row = row_of(samples_of("direct", {300}), samples_of("direct", {200}));
    row.status = RowStatus::failed;
    judge(row);
    EXPECT_EQ(row.status, RowStatus::failed);
    EXPECT_FALSE(row.speedup());
}

TEST(Row, PrecisionIsTheWorseSideAndUnknownForOneNumber) {
    const Row direct = row_of(samples_of("direct", {300}), samples_of("direct", {200}));
    EXPECT_FALSE(direct.precision());
    const Row host = row_of(samples_of("host", {100, 100, 100, 100, 100, 100}),
                            samples_of("host", {90, 100, 100, 100, 100, 110}));
    EXPECT_DOUBLE_EQ(*host.precision(), 0.1);
}

TEST(Row, SurvivesTheWayThroughJson) {
    Row row = row_of(samples_of("host", {100, 101, 102, 103, 104, 105}),
                     samples_of("host", {50, std::numeric_limits<double>::infinity()}));
    row.flags = {"throttled"};
    row.case_id = "abc";
    row.caliber_id = "def";
    row.check = {{"ok", true}};
    const auto back = row_from_json(to_json(row));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_line(to_json(*back)), to_line(to_json(row)));
    EXPECT_DOUBLE_EQ(back->base->summary->median, 102.5);
    EXPECT_EQ(back->candidate->invalid_count, 1U);
}

TEST(Row, WhatTheDeviceToldAndAFallbackSurviveTheWayThroughJson) {
    SideSamples base = samples_of("event", {100, 101, 102});
    base.dropped_bursts = 2;
    for (const double mhz : {1980.0, 1965.0, 1200.0}) {
        Burst burst;
        burst.sm_clock_mhz = mhz;
        burst.temperature_celsius = mhz / 30;
        base.bursts.push_back(burst);
    }
    base.bursts.emplace_back();  // a burst during which nothing could be read
    Row row = row_of(base, samples_of("event", {50}));
    row.fallback = "capture_refused";
    row.fallback_detail = "base: operation not permitted";
    const auto back = row_from_json(to_json(row));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->fallback, "capture_refused");
    EXPECT_EQ(back->fallback_detail, "base: operation not permitted");
    EXPECT_EQ(back->base->sm_clock_mhz, 1965);
    EXPECT_EQ(back->base->temperature_celsius, 66);
    EXPECT_EQ(back->base->dropped_bursts, 2);
    EXPECT_FALSE(back->candidate->sm_clock_mhz);
    EXPECT_FALSE(back->candidate->temperature_celsius);
    EXPECT_EQ(back->candidate->dropped_bursts, 0);
    EXPECT_FALSE(to_json(row)["candidate"].contains("sm_clock_mhz"));
    EXPECT_FALSE(to_json(row)["candidate"].contains("dropped_bursts"));
}

TEST(Row, WithoutAFallbackItsMembersAreNull) {
    const Row row = row_of(samples_of("event", {100}), samples_of("event", {50}));
    EXPECT_TRUE(to_json(row)["fallback"].is_null());
    EXPECT_TRUE(to_json(row)["fallback_detail"].is_null());
    EXPECT_EQ(row_from_json(to_json(row))->fallback, "");
}

TEST(Row, ASideWithoutDeviceWorkSurvivesTheWayThroughJson) {
    SideSamples idle = samples_of("graph", {});
    idle.no_device_work = true;
    const Row row = row_of(idle, samples_of("graph", {50}));
    EXPECT_EQ(row.status, RowStatus::skipped);
    EXPECT_EQ(row.reason, "no_device_work: base launches nothing on the device");
    const auto back = row_from_json(to_json(row));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(back->base->no_device_work);
    EXPECT_FALSE(back->base->summary);
    EXPECT_FALSE(back->candidate->no_device_work);
    EXPECT_FALSE(back->speedup());
}

TEST(Row, AnotherSchemaVersionIsNamed) {
    const auto row = row_from_json({{"schema_version", 9}});
    ASSERT_FALSE(row);
    EXPECT_EQ(row.error().message, "a row has schema version 9, this opgauge reads 1");
}

}  // namespace
}  // namespace opgauge
