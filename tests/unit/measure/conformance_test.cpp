// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/conformance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opgauge {
namespace {

// As an H200 would tell: events step by 32 ns, a pair of them takes 1.6 us.
Json facts() {
    return {{"hold", true},
            {"bytes", {{"small", 4096}, {"n", 268435456}}},
            {"null_event_ns", {1600, 1568, 1600, 1632, 1600}},
            {"empty_kernel_event_ns", {3072, 3008, 3072}},
            {"fill_small_event_ns", {3104, 3136, 3104}},
            {"fill_n_event_ns", {69600, 69632, 69568}},
            {"fill_2n_event_ns", {137600, 137632, 137536}},
            {"unit",
             {{{"host_ns", 20'050'000}, {"event_ns", 20'000'000}},
              {{"host_ns", 20'100'000}, {"event_ns", 20'000'000}},
              {{"host_ns", 29'000'000}, {"event_ns", 20'000'000}}}},
            {"graph_calls", 14},
            {"fill_n_graph_ns", {68680, 68700, 68650}}};
}

Conformance judged(const Json& facts) {
    auto result = judge_conformance(facts);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or(Conformance{});
}

ConformanceCheck check_of(const Conformance& conformance, const std::string& name) {
    for (const auto& check : conformance.checks) {
        if (check.name == name) return check;
    }
    ADD_FAILURE() << "no check " << name;
    return {};
}

std::vector<std::string> failed_with(const char* member, const Json& value) {
    Json changed = facts();
    changed[member] = value;
    return judged(changed).failed();
}

using Names = std::vector<std::string>;

TEST(Conformance, AGoodDevicePassesEveryCheckWithItsValues) {
    const Conformance good = judged(facts());
    EXPECT_EQ(good.failed(), Names{});
    EXPECT_EQ(good.checks.size(), 6U);
    EXPECT_DOUBLE_EQ(*check_of(good, "null_pair_ns").value, 1600);
    EXPECT_DOUBLE_EQ(*check_of(good, "resolution_ns").value, 32);
    EXPECT_DOUBLE_EQ(*check_of(good, "short_fill_ns").value, 1504);
    EXPECT_DOUBLE_EQ(*check_of(good, "twice_the_work_ratio").value, 2.0);
    EXPECT_NEAR(*check_of(good, "event_host_ratio").value, 0.995, 0.0001);
    EXPECT_DOUBLE_EQ(*check_of(good, "graph_event_ratio").value, 1.01);
    EXPECT_DOUBLE_EQ(good.empty_kernel_ns.value_or(0), 3072);
    EXPECT_TRUE(good.conforms("event"));
    EXPECT_TRUE(good.conforms("graph"));
}

TEST(Conformance, TheFloorIsThePairOfEventsASampleOverItsCalls) {
    const Conformance good = judged(facts());
    EXPECT_DOUBLE_EQ(good.floor_ns, 1600);
    EXPECT_DOUBLE_EQ(good.floor_of("event", 1), 1600);
    EXPECT_DOUBLE_EQ(good.floor_of("graph", 100), 16);
    EXPECT_DOUBLE_EQ(good.floor_of("graph", 0), 1600);
    EXPECT_DOUBLE_EQ(good.floor_of("direct", 1), 0);
    EXPECT_DOUBLE_EQ(good.floor_of("host", 1), 0);
}

TEST(Conformance, TheFloorIsNeverAboveTheShortestWork) {
    Json noisy = facts();
    noisy["fill_small_event_ns"] = {1500, 3104, 3104};
    EXPECT_DOUBLE_EQ(judged(noisy).floor_ns, 1500);
    noisy["fill_small_event_ns"] = {-5, 3104, 3104};
    EXPECT_DOUBLE_EQ(judged(noisy).floor_ns, 0);
}

TEST(Conformance, WithoutAHoldEventsTellTheHostAndGiveNoFloor) {
    Json unheld = facts();
    unheld["hold"] = false;
    EXPECT_DOUBLE_EQ(judged(unheld).floor_ns, 0);
    unheld.erase("hold");
    EXPECT_DOUBLE_EQ(judged(unheld).floor_ns, 0);
}

TEST(Conformance, EachCheckFailsForItsOwnReason) {
    EXPECT_EQ(failed_with("null_event_ns", {-1, -1}), Names{"null_pair_ns"});
    EXPECT_EQ(failed_with("fill_small_event_ns", {1600, 1600, 1632}), Names{"short_fill_ns"});
    EXPECT_EQ(failed_with("fill_2n_event_ns", {70000, 70032}), Names{"twice_the_work_ratio"});
    EXPECT_EQ(failed_with("unit", {{{"host_ns", 20.1e6}, {"event_ns", 20.0e9}}}),
              Names{"event_host_ratio"});
    EXPECT_EQ(failed_with("fill_n_graph_ns", {34000}), Names{"graph_event_ratio"});
}

TEST(Conformance, AClockOfAMillisecondIsTooCoarse) {
    Json coarse = facts();
    coarse["null_event_ns"] = {0, 0, 0};
    coarse["fill_small_event_ns"] = {0, 1e6, 0};
    coarse["fill_n_event_ns"] = {1e6, 0, 0};
    coarse["fill_2n_event_ns"] = {1e6, 1e6, 0};
    const Conformance bad = judged(coarse);
    EXPECT_EQ(bad.failed(), (Names{"resolution_ns", "short_fill_ns", "twice_the_work_ratio",
                                   "graph_event_ratio"}));
    EXPECT_DOUBLE_EQ(*bad.resolution_ns, 1e6);
    EXPECT_FALSE(check_of(bad, "twice_the_work_ratio").value);
}

TEST(Conformance, SamplesThatNeverDifferHaveNoResolutionAndThatIsNoFault) {
    Json equal = facts();
    equal["null_event_ns"] = {1600, 1600};
    equal["fill_small_event_ns"] = {3104, 3104};
    equal["fill_n_event_ns"] = {69600, 69600.01};  // the rounding of a float
    equal["fill_2n_event_ns"] = {137600};
    const Conformance good = judged(equal);
    EXPECT_FALSE(good.resolution_ns);
    EXPECT_TRUE(check_of(good, "resolution_ns").ok);
}

TEST(Conformance, AGraphThatFailsSpoilsOnlyGraphs) {
    Json refused = facts();
    refused.erase("fill_n_graph_ns");
    refused["graph_problem"] = "capture_refused: no";
    const Conformance bad = judged(refused);
    EXPECT_EQ(bad.failed(), Names{"graph_event_ratio"});
    EXPECT_EQ(check_of(bad, "graph_event_ratio").problem, "capture_refused: no");
    EXPECT_TRUE(bad.conforms("event"));
    EXPECT_FALSE(bad.conforms("graph"));
    EXPECT_TRUE(bad.covers("graph"));
    Json events = facts();
    events["unit"] = {{{"host_ns", 1.0}, {"event_ns", 2.0}}};
    EXPECT_FALSE(judged(events).conforms("event"));
    EXPECT_FALSE(judged(events).conforms("graph"));  // it is timed with events
    EXPECT_TRUE(judged(events).conforms("direct"));
}

TEST(Conformance, WithoutAGraphOnlyEventsAreCovered) {
    Json events = facts();
    events.erase("fill_n_graph_ns");
    EXPECT_TRUE(judged(events).covers("event"));
    EXPECT_FALSE(judged(events).covers("graph"));
}

TEST(Conformance, WhatTheChildCouldNotTakeIsAnErrorInItsWords) {
    const auto message = [](const Json& facts) {
        const auto result = judge_conformance(facts);
        return result ? std::string("judged") : result.error().message;
    };
    EXPECT_EQ(message({{"problem", "no memory\nat all"}}),
              "checking the timers: no memory\\x0aat all");
    EXPECT_EQ(message(nullptr), "checking the timers: no facts");
    EXPECT_EQ(message(Json::array()), "checking the timers: no facts");
    Json cut = facts();
    cut["fill_2n_event_ns"] = {nullptr, "1"};
    EXPECT_EQ(message(cut), "checking the timers: the child told no fill_2n_event_ns");
    cut = facts();
    cut["unit"] = {{{"host_ns", 0}, {"event_ns", 1}}, 7, nullptr};
    EXPECT_EQ(message(cut), "checking the timers: the child told no unit");
}

TEST(Conformance, AsJsonEachCheckHasItsBoundAndVerdict) {
    const Json json = to_json(judged(facts()));
    EXPECT_EQ(json["ok"], true);
    EXPECT_EQ(json["floor_ns"], 1600);
    EXPECT_EQ(json["checks"][2], (Json{{"name", "short_fill_ns"},
                                       {"timer", "event"},
                                       {"value", 1504.0},
                                       {"bound", {1.0, nullptr}},
                                       {"ok", true},
                                       {"problem", ""}}));
}

}  // namespace
}  // namespace opgauge
