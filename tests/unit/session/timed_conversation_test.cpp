// SPDX-License-Identifier: Apache-2.0
// What the time of a conversation goes to: a scripted child and a clock that stands still between
// its messages.
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using std::chrono::seconds;

class ScriptedTurn final : public MeasuringSection {
  public:
    bool try_enter() override { return free; }
    void leave() override {}
    int neighbours() override { return 0; }
    bool free = true;
};

class TimedConversationTest : public ::testing::Test {
  protected:
    TimedConversationTest() {
        JobSettings job;
        job.backend = "cuda";
        job.device = Json::parse(R"({"uuid":"GPU-1a2b-33"})");
        job.timer = "host";
        job.section = &section_;
        job.turn = &turn_;
        job.time = &time_;
        job.timer_checks = TimerChecks({"event"}, nullptr);
        talk_.emplace(
            job, CaptureMemory(), watch_, clock_, observer_,
            [](const Row&, const std::optional<SideSamples>&,
               const std::optional<SideSamples>&) -> Result<void> { return {}; },
            [](const Json&) {});
    }

    // After so many seconds the child says this.
    std::optional<Json> after(int wall, Json message, const Json& spent = nullptr) {
        clock_.advance(seconds(wall));
        if (!spent.is_null()) message["spent"] = spent;
        return talk_->on_message(message);
    }
    void start_child() {
        after(2, {{"type", "hello"}, {"protocol", 1}, {"pid", 1}});
        after(20, {{"type", "collected"}, {"nodes", {"a.py::t"}}});
        after(1, {{"type", "device"}, {"backend", "cuda"}, {"count", 1}, {"uuid", "1A2B33"}});
        after(4, {{"type", "conformance"}, {"facts", {{"problem", "none"}}}});
        after(0, {{"type", "test_begin"}, {"node", "a.py::t"}});
    }
    void begin_case(int wall) {
        after(wall, {{"type", "case_begin"},
                     {"case", {{"operator", "mm"}, {"dtype", "f"}, {"shapes", {1}}}}});
    }
    Json samples(const char* side) {
        return {{"type", "samples"},
                {"side", side},
                {"timer", "host"},
                {"calls_per_sample", 1},
                {"values_ns", std::vector<double>(20, 1e6)}};
    }
    static Json side_begin(const char* side) {
        return {{"type", "side_begin"}, {"side", side}, {"timer", "host"}, {"estimate_ns", 1}};
    }
    double at(TimePart part) const { return time_.parts()[part]; }

    ScriptedTurn section_;
    ScriptedTurn turn_;
    testing::FakeClock clock_;
    TimeAccount time_{clock_, TimePart::start};
    DeviceWatch watch_{nullptr, Heat::burst, clock_};
    RunObserver observer_;
    std::optional<Conversation> talk_;
};

TEST_F(TimedConversationTest, EveryPartOfAScriptedRunHasItsSeconds) {
    start_child();
    begin_case(3);
    after(10, side_begin("base"), {{"check", 1.0}});
    after(5, samples("base"));
    after(40, side_begin("candidate"), {{"compile", 12.0}, {"tune", 24.0}});
    after(6, samples("candidate"));
    after(2, {{"type", "case_end"}, {"status", "ok"}}, {{"check", 2.0}});
    after(7, {{"type", "test_end"}, {"node", "a.py::t"}, {"outcome", "passed"}});
    after(1, {{"type", "bye"}, {"exit", 0}});
    clock_.advance(seconds(8));
    EXPECT_EQ(at(TimePart::start), 2);
    EXPECT_EQ(at(TimePart::imports), 20 + 1);
    EXPECT_EQ(at(TimePart::check), 4 + 1 + 2);
    EXPECT_EQ(at(TimePart::inputs), 3 + 7 + 1);
    EXPECT_EQ(at(TimePart::first_calls), 9 + 4);
    EXPECT_EQ(at(TimePart::compile), 12);
    EXPECT_EQ(at(TimePart::tune), 24);
    EXPECT_EQ(at(TimePart::measure), 5 + 6);
    EXPECT_EQ(at(TimePart::end), 8);
    EXPECT_EQ(at(TimePart::other), 0);
    EXPECT_EQ(time_.parts().sum(), 2 + 21 + 4 + 3 + 10 + 5 + 40 + 6 + 2 + 7 + 1 + 8);
}

TEST_F(TimedConversationTest, WaitsForTheTurnAndForTheSectionAreNobodysWork) {
    start_child();
    turn_.free = false;
    after(1, {{"type", "turn"}});
    clock_.advance(seconds(30));
    EXPECT_FALSE(talk_->late_answer());
    turn_.free = true;
    EXPECT_TRUE(talk_->late_answer());
    begin_case(2);
    section_.free = false;
    after(4, side_begin("base"));
    clock_.advance(seconds(9));
    section_.free = true;
    EXPECT_EQ((*talk_->late_answer())["type"], "more");
    after(5, samples("base"));
    EXPECT_EQ(at(TimePart::wait), 30 + 9);
    EXPECT_EQ(at(TimePart::inputs), 1 + 2);
    EXPECT_EQ(at(TimePart::first_calls), 4);
    EXPECT_EQ(at(TimePart::measure), 5);
}

TEST_F(TimedConversationTest, AChildThatIsReplacedEndsAndAnotherStarts) {
    start_child();
    begin_case(1);
    after(1, side_begin("base"));
    after(1, samples("base"));
    after(1, {{"type", "case_end"}, {"status", "ok"}});
    talk_->child_ended("it was killed", Signaled{9});
    clock_.advance(seconds(3));
    talk_->await_memory();
    clock_.advance(seconds(2));
    EXPECT_EQ(at(TimePart::end), 3);
    EXPECT_EQ(at(TimePart::start), 2 + 2);
}

TEST_F(TimedConversationTest, AChildMaySayNothingOfWhatItCannotSee) {
    start_child();
    begin_case(0);
    after(10, side_begin("base"),
          {{"wait", 5}, {"measure", 5}, {"other", 5}, {"tune", "all"}, {"compile", -3}});
    EXPECT_EQ(at(TimePart::first_calls), 10);
    after(1, samples("base"), Json::array({1}));
    EXPECT_EQ(at(TimePart::measure), 1);
}

}  // namespace
}  // namespace opgauge
