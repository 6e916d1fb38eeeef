// SPDX-License-Identifier: Apache-2.0
// When the sides of a conversation may be timed.
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ScriptedSection final : public MeasuringSection {
  public:
    bool try_enter() override {
        inside = inside || free;
        return inside;
    }
    void leave() override { inside = false; }
    int neighbours() override { return others; }

    bool free = true;
    bool inside = false;
    int others = 0;
};

class ScriptedTurn final : public HostTurn {
  public:
    bool try_enter() override {
        mine = mine || free;
        return mine;
    }
    void leave() override { mine = false; }

    bool free = true;
    bool mine = false;
};

class Phases final : public RunObserver {
  public:
    void on_phase(const std::string& text) override { phases.push_back(text); }
    std::vector<std::string> phases;
};

class SectionConversationTest : public ::testing::Test {
  protected:
    SectionConversationTest() {
        JobSettings job;
        job.backend = "cuda";
        job.device = Json::parse(R"({"uuid":"GPU-1a2b-33"})");
        job.timer = "host";
        job.section = &section_;
        job.turn = &turn_;
        talk_.emplace(
            job, CaptureMemory(), watch_, clock_, observer_,
            [this](const Row& row, const std::optional<SideSamples>&,
                   const std::optional<SideSamples>&) -> Result<void> {
                rows_.push_back(row);
                return {};
            },
            [](const Json&) {});
        job_ = *say({{"type", "hello"}, {"protocol", 1}, {"pid", 1}});
        say({{"type", "device"}, {"backend", "cuda"}, {"count", 1}, {"uuid", "1A2B33"}});
        say({{"type", "test_begin"}, {"node", "a.py::t"}});
        say({{"type", "case_begin"},
             {"case", {{"operator", "mm"}, {"dtype", "f"}, {"shapes", {1}}}}});
        observer_.phases.clear();
    }

    std::optional<Json> say(const Json& message) { return talk_->on_message(message); }
    std::optional<Json> begin_side(const char* side) {
        return say({{"type", "side_begin"}, {"side", side}, {"timer", "host"}, {"estimate_ns", 1}});
    }
    std::string samples(const char* side) {
        const auto answer = say({{"type", "samples"},
                                 {"side", side},
                                 {"timer", "host"},
                                 {"calls_per_sample", 1},
                                 {"values_ns", std::vector<double>(20, 1e6)}});
        return answer ? get_string(*answer, "type") : "none";
    }
    const Row& end_case() {
        say({{"type", "case_end"}, {"status", "ok"}});
        return rows_.back();
    }

    ScriptedSection section_;
    ScriptedTurn turn_;
    Json job_;
    testing::FakeClock clock_;
    DeviceWatch watch_{nullptr, Heat::burst, clock_};
    Phases observer_;
    std::vector<Row> rows_;
    std::optional<Conversation> talk_;
};

TEST_F(SectionConversationTest, EachSideIsTimedInsideAndTheCompilingBetweenThemIsNot) {
    EXPECT_FALSE(section_.inside);
    EXPECT_EQ((*begin_side("base"))["type"], "more");
    EXPECT_TRUE(section_.inside);
    EXPECT_EQ(samples("base"), "enough");
    EXPECT_FALSE(section_.inside);
    EXPECT_EQ((*begin_side("candidate"))["type"], "more");
    EXPECT_TRUE(section_.inside);
    EXPECT_EQ(samples("candidate"), "enough");
    EXPECT_FALSE(section_.inside);
    EXPECT_EQ(end_case().waited_s, 0);
    EXPECT_THAT(rows_.back().flags, IsEmpty());
}

TEST_F(SectionConversationTest, AnAnswerWaitsUntilOthersAreDone) {
    section_.free = false;
    EXPECT_FALSE(begin_side("base"));
    EXPECT_TRUE(talk_->answers_later());
    EXPECT_EQ(talk_->tick_interval(), milliseconds(2));
    clock_.advance(milliseconds(900));
    EXPECT_FALSE(talk_->late_answer());
    EXPECT_THAT(observer_.phases, IsEmpty());
    clock_.advance(milliseconds(600));
    EXPECT_FALSE(talk_->late_answer());
    EXPECT_FALSE(talk_->late_answer());
    section_.free = true;
    const auto answer = talk_->late_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ((*answer)["type"], "more");
    EXPECT_FALSE(talk_->answers_later());
    EXPECT_THAT(observer_.phases,
                ElementsAre("waiting for another measurement on this host", "measuring"));
    EXPECT_EQ(samples("base"), "enough");
    EXPECT_DOUBLE_EQ(end_case().waited_s, 1.5);
    EXPECT_EQ(talk_->waited(), milliseconds(1500));
}

TEST_F(SectionConversationTest, TheChildsEndAndAFailedCaptureGiveTheSectionBack) {
    begin_side("base");
    say({{"type", "capture_failed"}, {"side", "base"}, {"kind", "capture_refused"}});
    EXPECT_FALSE(section_.inside);
    say({{"type", "case_begin"}, {"case", {{"operator", "mm"}, {"dtype", "f"}, {"shapes", {1}}}}});
    begin_side("base");
    EXPECT_TRUE(section_.inside);
    talk_->child_ended("the child exited with 3", Exited{3});
    EXPECT_FALSE(section_.inside);
}

TEST_F(SectionConversationTest, AChildThatDiesWhileItWaitsGetsNothing) {
    section_.free = false;
    begin_side("base");
    clock_.advance(milliseconds(250));
    talk_->child_ended("the child was killed by signal 9", Signaled{9, false});
    EXPECT_FALSE(talk_->answers_later());
    EXPECT_DOUBLE_EQ(rows_.back().waited_s, 0.25);
    EXPECT_EQ(rows_.back().status, RowStatus::failed);
}

TEST_F(SectionConversationTest, TheMostNeighboursOfACaseAreItsFlag) {
    section_.others = 1;
    begin_side("base");
    section_.others = 3;
    samples("base");
    section_.others = 2;
    begin_side("candidate");
    samples("candidate");
    EXPECT_THAT(end_case().flags, ElementsAre("neighbours=3"));
    section_.others = 0;
    say({{"type", "case_begin"}, {"case", {{"operator", "mm"}, {"dtype", "f"}, {"shapes", {2}}}}});
    begin_side("base");
    samples("base");
    EXPECT_THAT(end_case().flags, IsEmpty());
}

TEST_F(SectionConversationTest, AChildOfASharedDeviceWaitsForItsTurn) {
    EXPECT_TRUE(job_["turns"].get<bool>());
    EXPECT_EQ(*say({{"type", "turn"}}), (Json{{"type", "go"}}));
    EXPECT_TRUE(turn_.mine);
    say({{"type", "turn_end"}});
    EXPECT_FALSE(turn_.mine);
    turn_.free = false;
    EXPECT_FALSE(say({{"type", "turn"}}));
    EXPECT_TRUE(talk_->answers_later());
    clock_.advance(milliseconds(1500));
    EXPECT_FALSE(talk_->late_answer());
    turn_.free = true;
    EXPECT_EQ(*talk_->late_answer(), (Json{{"type", "go"}}));
    EXPECT_TRUE(turn_.mine);
    EXPECT_THAT(observer_.phases,
                ElementsAre("waiting for another operator on this device", "measuring"));
    EXPECT_DOUBLE_EQ(end_case().waited_s, 1.5);
}

TEST_F(SectionConversationTest, TheChildsEndGivesItsTurnBackAndEndsAWaitForIt) {
    say({{"type", "turn"}});
    talk_->child_ended("the child exited with 3", Exited{3});
    EXPECT_FALSE(turn_.mine);
    say({{"type", "hello"}, {"protocol", 1}, {"pid", 2}});
    turn_.free = false;
    say({{"type", "turn"}});
    talk_->child_ended("the child was killed by signal 9", Signaled{9, false});
    EXPECT_FALSE(talk_->answers_later());
    EXPECT_FALSE(talk_->late_answer());
}

}  // namespace
}  // namespace opgauge
