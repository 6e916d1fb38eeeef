// SPDX-License-Identifier: Apache-2.0
// A conversation whose device is watched: what of it reaches the child and the row.
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"
#include "tests/support/scripted_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WatchedConversationTest : public ::testing::Test {
  protected:
    void start(Heat heat = Heat::burst, const std::string& timer = "host") {
        script_.reading->max_sm_clock_mhz = 1980;
        timer_ = timer;
        JobSettings job;
        job.backend = "cuda";
        job.device = Json::parse(R"({"uuid":"GPU-1a2b-33"})");
        job.timer = timer;
        watch_.emplace(std::make_unique<testing::ScriptedTelemetry>(script_), heat, clock_);
        talk_.emplace(
            job, CaptureMemory(), *watch_, clock_, observer_,
            [this](const Row& row, const std::optional<SideSamples>& base,
                   const std::optional<SideSamples>&) -> Result<void> {
                rows_.push_back(row);
                base_ = base;
                return {};
            },
            [](const Json&) {});
        say({{"type", "hello"}, {"protocol", 1}, {"pid", ::getpid()}});
        say({{"type", "device"}, {"backend", "cuda"}, {"count", 1}, {"uuid", "1A2B33"}});
        say({{"type", "test_begin"}, {"node", "a.py::t"}});
        begin_case();
    }

    Json say(const Json& message) { return talk_->on_message(message).value_or(Json(nullptr)); }

    void begin_case() {
        say({{"type", "case_begin"},
             {"case", {{"operator", "mm"}, {"dtype", "f"}, {"shapes", {1}}}}});
    }
    Json begin_side(const char* side) {
        return say(
            {{"type", "side_begin"}, {"side", side}, {"timer", timer_}, {"estimate_ns", 1e6}});
    }
    // A burst of `values` that took `took` and was watched at `mhz`.
    Json burst(const char* side, const Json& values, double mhz,
               const std::vector<std::string>& reasons = {},
               std::chrono::milliseconds took = std::chrono::milliseconds(10)) {
        script_.clock(mhz, reasons);
        clock_.advance(took);
        talk_->on_tick();
        return say({{"type", "samples"},
                    {"side", side},
                    {"timer", timer_},
                    {"calls_per_sample", 1},
                    {"values_ns", values}});
    }
    static Json values(double value, std::size_t count = 20) {
        return std::vector<double>(count, value);
    }
    // Few and noisy: more are asked for.
    static Json noisy() { return {1e6, 2e6}; }
    const Row& end_case() {
        say({{"type", "case_end"}, {"status", "ok"}, {"flags", {"by_child"}}});
        return rows_.back();
    }

    testing::TelemetryScript script_;
    testing::FakeClock clock_;
    std::string timer_;
    std::optional<DeviceWatch> watch_;
    RunObserver observer_;
    std::vector<Row> rows_;
    std::optional<SideSamples> base_;
    std::optional<Conversation> talk_;
};

TEST_F(WatchedConversationTest, ASlowBurstIsNotInTheRowAndTheChildRests) {
    start();
    EXPECT_EQ(begin_side("base")["type"], "more");
    const Json rest = burst("base", values(9e6), 1200, {"sw_power_cap"});
    EXPECT_EQ(rest["type"], "cool_down");
    EXPECT_DOUBLE_EQ(rest["seconds"], 0.2);
    EXPECT_EQ(rest["samples"], 10);
    EXPECT_EQ(rest["calls_per_sample"], 1);
    EXPECT_EQ(burst("base", values(1e6), 1965)["type"], "enough");
    begin_side("candidate");
    EXPECT_EQ(burst("candidate", values(5e5), 1980)["type"], "enough");
    const Row& row = end_case();
    EXPECT_EQ(row.base->summary->count, 20U);
    EXPECT_EQ(row.base->summary->maximum, 1e6);
    EXPECT_EQ(row.base->dropped_bursts, 1);
    EXPECT_EQ(row.base->sm_clock_mhz, 1965);
    EXPECT_EQ(row.candidate->dropped_bursts, 0);
    EXPECT_EQ(row.candidate->sm_clock_mhz, 1980);
    EXPECT_DOUBLE_EQ(*row.speedup(), 2.0);
    EXPECT_THAT(row.flags, ElementsAre("by_child"));
    ASSERT_EQ(base_->bursts.size(), 1U);
    EXPECT_EQ(base_->bursts[0].samples, 20U);
}

TEST_F(WatchedConversationTest, ARestIsAskedForOnce) {
    start();
    begin_side("base");
    EXPECT_EQ(burst("base", noisy(), 1200, {"sw_power_cap"})["type"], "cool_down");
    const Json next = burst("base", noisy(), 1980);
    EXPECT_EQ(next["type"], "more");
    EXPECT_FALSE(next.contains("seconds"));
}

TEST_F(WatchedConversationTest, ACardThatStaysSlowHasItsRowAndAFlag) {
    start();
    for (const char* side : {"base", "candidate"}) {
        begin_side(side);
        int rests = 0;
        while (burst(side, values(1e6), 1170, {"hw_slowdown"})["type"] == "cool_down") ++rests;
        EXPECT_EQ(rests, std::string(side) == "base" ? 3 : 0);
    }
    const Row& row = end_case();
    EXPECT_EQ(row.status, RowStatus::ok);
    EXPECT_THAT(row.flags, ElementsAre("by_child", "throttled:hw_slowdown@1170MHz"));
    EXPECT_EQ(row.base->dropped_bursts, 3);
    EXPECT_EQ(row.base->sm_clock_mhz, 1170);
    EXPECT_EQ(talk_->result().rows_flagged, 1);
}

TEST_F(WatchedConversationTest, ANeighbourFlagsTheRowOfItsCaseOnly) {
    script_.processes = std::vector<DeviceProcess>{{::getpid(), "python", {}}, {1, "train", {}}};
    start();
    const Row& shared = end_case();
    EXPECT_THAT(shared.flags, ElementsAre("by_child", "shared_device"));
    script_.processes->pop_back();
    begin_case();
    EXPECT_THAT(end_case().flags, ElementsAre("by_child"));
}

TEST_F(WatchedConversationTest, ANeighbourThatCameDuringTheCaseFlagsItsRow) {
    script_.processes = std::vector<DeviceProcess>{{::getpid(), "python", {}}};
    start();
    script_.processes->push_back({1, "train", {}});
    EXPECT_THAT(end_case().flags, ElementsAre("by_child", "shared_device"));
}

TEST_F(WatchedConversationTest, AFailedCaseKeepsItsFlags) {
    script_.processes = std::vector<DeviceProcess>{{1, "train", {}}};
    start();
    talk_->child_ended("the child exited with 1", Exited{1});
    EXPECT_EQ(rows_[0].status, RowStatus::failed);
    EXPECT_THAT(rows_[0].flags, ElementsAre("shared_device"));
}

TEST_F(WatchedConversationTest, AnInvalidSampleOfADroppedBurstIsDroppedToo) {
    start();
    begin_side("base");
    EXPECT_EQ(burst("base", {0.0}, 1200, {"sw_power_cap"})["type"], "cool_down");
    EXPECT_EQ(burst("base", values(1e6), 1980)["type"], "enough");
    begin_side("candidate");
    burst("candidate", values(1e6), 1980);
    const Row& row = end_case();
    EXPECT_EQ(row.status, RowStatus::ok);
    EXPECT_EQ(row.base->invalid_count, 0U);
}

// The bound of a side's wall time is one of kept bursts: a second of warming up, or rests, would
// leave a single burst of it.
TEST_F(WatchedConversationTest, WarmingUpAndRestsAreNoneOfASidesWallTime) {
    start(Heat::sustained, "event");
    begin_side("base");
    const auto half = std::chrono::milliseconds(500);
    EXPECT_EQ(burst("base", noisy(), 1500, {"sw_power_cap"}, half)["type"], "more");
    EXPECT_EQ(burst("base", noisy(), 1500, {"sw_power_cap"}, half / 2)["type"], "more");
    EXPECT_EQ(burst("base", noisy(), 1500, {"sw_power_cap"}, half / 2)["type"], "more");
    EXPECT_EQ(burst("base", noisy(), 1500, {"sw_power_cap"}, half / 2)["type"], "enough");
    begin_side("candidate");
    end_case();
    EXPECT_EQ(rows_[0].base->stopped_by, "max_wall");
    EXPECT_EQ(rows_[0].base->dropped_bursts, 2);
    EXPECT_EQ(rows_[0].base->summary->count, 4U);
    EXPECT_DOUBLE_EQ(base_->wall_s, 0.5);
}

TEST_F(WatchedConversationTest, ReadingsAreTakenOftenOnlyWhileABurstRuns) {
    start();
    EXPECT_EQ(talk_->tick_interval(), ChildHandler::kUsualTick);
    begin_side("base");
    EXPECT_EQ(talk_->tick_interval(), std::chrono::milliseconds(2));
    burst("base", values(1e6), 1980);
    EXPECT_EQ(talk_->tick_interval(), ChildHandler::kUsualTick);
    EXPECT_THAT(rows_, IsEmpty());
}

}  // namespace
}  // namespace opgauge
