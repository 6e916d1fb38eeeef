// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/stopping_rule.h"

#include <gtest/gtest.h>

#include <limits>

namespace opgauge {
namespace {

SideSamples side_with(std::vector<double> values) {
    SideSamples side;
    side.timer = "host";
    side.values_ns = std::move(values);
    return side;
}

TEST(StoppingRule, FirstBurstFollowsFromTheEstimate) {
    SideSamples side = side_with({});
    side.estimate_ns = 50e3;
    const auto decision = decide(StoppingSettings{}, side);
    const auto& more = std::get<MoreSamples>(decision);
    EXPECT_EQ(more.calls_per_sample, 2);  // 2 calls make a sample of 100 us
    EXPECT_EQ(more.samples, 100);         // 100 samples of 100 us make a burst of 10 ms
}

TEST(StoppingRule, ACallOfFiveSecondsIsTakenOnceAndIsEnough) {
    SideSamples side = side_with({});
    side.estimate_ns = 5e9;
    const auto first = std::get<MoreSamples>(decide(StoppingSettings{}, side));
    EXPECT_EQ(first.samples, 1);
    EXPECT_EQ(first.calls_per_sample, 1);
    side.values_ns = {5e9};
    EXPECT_EQ(std::get<Enough>(decide(StoppingSettings{}, side)).reason, "max_time");
}

TEST(StoppingRule, EqualSamplesAreEnoughOnceTheMinimumIsTaken) {
    const StoppingSettings settings;
    EXPECT_TRUE(std::holds_alternative<MoreSamples>(
        decide(settings, side_with(std::vector<double>(19, 1e6)))));
    EXPECT_EQ(std::get<Enough>(decide(settings, side_with(std::vector<double>(20, 1e6)))).reason,
              "precision");
}

TEST(StoppingRule, NoisySamplesGoOnUntilTheTimeIsSpent) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(i % 2 == 0 ? 1e6 : 2e6);
    StoppingSettings settings;
    EXPECT_TRUE(std::holds_alternative<MoreSamples>(decide(settings, side_with(values))));
    settings.max_time_s = 0.05;  // 40 samples of 1.5 ms are 60 ms
    EXPECT_EQ(std::get<Enough>(decide(settings, side_with(values))).reason, "max_time");
}

TEST(StoppingRule, CallsPerSampleStayWhatTheFirstBurstHad) {
    SideSamples side = side_with({1e3, 9e3, 2e3});
    side.calls_per_sample = 7;
    EXPECT_EQ(std::get<MoreSamples>(decide(StoppingSettings{}, side)).calls_per_sample, 7);
}

TEST(StoppingRule, ACompleteSideIsEnough) {
    SideSamples side = side_with({1e6});
    side.complete = true;
    EXPECT_EQ(std::get<Enough>(decide(StoppingSettings{}, side)).reason, "complete");
}

TEST(StoppingRule, ABurstOfInvalidSamplesEndsTheSide) {
    SideSamples side = side_with({});
    side.invalid = {"zero", "zero"};
    EXPECT_EQ(std::get<Enough>(decide(StoppingSettings{}, side)).reason, "invalid");
}

TEST(StoppingRule, NamesAreReadBack) {
    for (const char* name : {"interval", "stdrel", "entropy"}) {
        const auto rule = stopping_rule_named(name);
        ASSERT_TRUE(rule) << name;
        EXPECT_EQ(name_of(*rule), name);
    }
    EXPECT_FALSE(stopping_rule_named("Interval"));
    EXPECT_FALSE(stopping_rule_named(""));
}

TEST(StoppingRule, AGraphTakesAMillisecondAndAtMostAThousandCalls) {
    const StoppingSettings settings = stopping_for(StoppingSettings{}, "graph");
    EXPECT_DOUBLE_EQ(settings.max_wall_s, 0.5);
    SideSamples side = side_with({});
    side.estimate_ns = 10e3;
    auto more = std::get<MoreSamples>(decide(settings, side));
    EXPECT_EQ(more.calls_per_sample, 100);
    EXPECT_EQ(more.samples, 10);
    side.estimate_ns = 500;
    more = std::get<MoreSamples>(decide(settings, side));
    EXPECT_EQ(more.calls_per_sample, 1000);
    EXPECT_EQ(more.samples, 20);
}

TEST(StoppingRule, AnEventTakesOneCallAndPaysForTheFlush) {
    const StoppingSettings settings = stopping_for(StoppingSettings{}, "event");
    EXPECT_DOUBLE_EQ(settings.max_wall_s, 0.5);
    SideSamples side = side_with({});
    side.estimate_ns = 100e3;
    const auto more = std::get<MoreSamples>(decide(settings, side));
    EXPECT_EQ(more.calls_per_sample, 1);
    EXPECT_EQ(more.samples, 100);  // 200 us each with the flush, in 20 ms
}

TEST(StoppingRule, OtherTimersKeepWhatWasAsked) {
    StoppingSettings asked;
    asked.sample_ns = 7;
    asked.burst_ns = 8;
    const StoppingSettings settings = stopping_for(asked, "host");
    EXPECT_EQ(settings.sample_ns, 7);
    EXPECT_EQ(settings.burst_ns, 8);
    EXPECT_EQ(settings.max_wall_s, std::numeric_limits<double>::infinity());
    EXPECT_EQ(settings.overhead_ns, 0);
}

TEST(StoppingRule, WhatASampleCostsBesideItsCallsIsSpentToo) {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) values.push_back(i % 2 == 0 ? 1e3 : 2e3);
    StoppingSettings settings;
    settings.max_time_s = 0.1;
    EXPECT_TRUE(std::holds_alternative<MoreSamples>(decide(settings, side_with(values))));
    settings.overhead_ns = 98.5e3;  // with 1.5 us a call: 100 ms
    EXPECT_EQ(std::get<Enough>(decide(settings, side_with(values))).reason, "max_time");
}

TEST(StoppingRule, TheWallTimeEndsASideThatHasASample) {
    StoppingSettings settings;
    settings.max_wall_s = 0.5;
    SideSamples side = side_with({1e3, 2e3});
    side.wall_s = 0.49;
    EXPECT_TRUE(std::holds_alternative<MoreSamples>(decide(settings, side)));
    side.wall_s = 0.5;
    EXPECT_EQ(std::get<Enough>(decide(settings, side)).reason, "max_wall");
    side.values_ns.clear();
    EXPECT_TRUE(std::holds_alternative<MoreSamples>(decide(settings, side)));
}

TEST(StoppingRule, ASideWithoutDeviceWorkIsEnoughAtOnce) {
    SideSamples side = side_with({});
    side.no_device_work = true;
    EXPECT_EQ(std::get<Enough>(decide(StoppingSettings{}, side)).reason, "no_device_work");
}

TEST(StoppingRule, ThePublishedRulesGiveTheirOwnReason) {
    StoppingSettings settings;
    settings.rule = StoppingRule::stdrel;
    settings.max_time_s = 10;
    EXPECT_TRUE(std::holds_alternative<MoreSamples>(
        decide(settings, side_with(std::vector<double>(50, 1e7)))));
    EXPECT_EQ(std::get<Enough>(decide(settings, side_with(std::vector<double>(51, 1e7)))).reason,
              "stdrel");
    settings.rule = StoppingRule::entropy;
    EXPECT_EQ(std::get<Enough>(decide(settings, side_with(std::vector<double>(2, 1e7)))).reason,
              "entropy");
}

TEST(Samples, InvalidValuesAreNamed) {
    EXPECT_EQ(why_invalid(0.0, 0), "zero");
    EXPECT_EQ(why_invalid(-2.5, 0), "negative (-2.5 ns)");
    EXPECT_EQ(why_invalid(std::numeric_limits<double>::quiet_NaN(), 0), "not a finite number");
    EXPECT_EQ(why_invalid(3, 10), "3 ns, below the timer's floor of 10 ns");
    EXPECT_FALSE(why_invalid(11, 10));
}

}  // namespace
}  // namespace opgauge
