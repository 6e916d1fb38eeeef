// SPDX-License-Identifier: Apache-2.0
// Reasons to end a child, and the sequence that ends it.
#include "opgauge/run/signals.h"
#include "opgauge/run/supervisor.h"

#include "tests/support/supervised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace opgauge {
namespace {

using namespace std::chrono_literals;
using opgauge::testing::no_child_is_left;
using opgauge::testing::short_limits;
using opgauge::testing::Supervised;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Signals go to this process and are let in where the supervisor waits.
class SupervisorSignals : public ::testing::Test {
  protected:
    SupervisorSignals() { SignalGuard::reset(); }
    ~SupervisorSignals() override { SignalGuard::reset(); }

    // Raises `number` when the child's first message comes.
    static void raise_at_first_row(Supervised& child, int number) {
        child.listener.answer = [&child, number](const Json&) -> std::optional<Json> {
            if (child.listener.messages.size() == 1) ::raise(number);
            return std::nullopt;
        };
    }

    SignalGuard guard_;
};

TEST(SupervisorStop, TheTotalLimitIsNamedInTheOutcome) {
    Supervised child({"sleep"});
    auto limits = short_limits();
    limits.total = 200ms;
    child.run(limits);
    ASSERT_TRUE(child.ended_as<TimedOut>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<TimedOut>()->limit, "timeout 0.2 s");
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
    EXPECT_GE(child.seconds, 0.2);
    EXPECT_LT(child.seconds, 10.0);
    EXPECT_TRUE(no_child_is_left());
}

TEST(SupervisorStop, AChildThatSaysNothingStalls) {
    Supervised child({"sleep"});
    auto limits = short_limits();
    limits.stall = 300ms;
    child.run(limits);
    ASSERT_TRUE(child.ended_as<TimedOut>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<TimedOut>()->limit, "stall 0.3 s");
}

TEST(SupervisorStop, EachMessageStartsTheStallLimitAgain) {
    Supervised child({"talk_slowly", "300"});
    auto limits = short_limits();
    limits.stall = 1200ms;  // less than the child's 1.5 s in all
    child.run(limits);
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.listener.rows().size(), 5U);
}

TEST(SupervisorStop, AChildThatIgnoresSigintGetsSigterm) {
    Supervised child({"ignore_signals"});
    auto limits = short_limits();
    limits.total = 200ms;
    limits.terminate = 60s;  // SIGKILL would come too late for this test
    child.run(limits);
    ASSERT_TRUE(child.ended_as<TimedOut>()) << to_text(child.outcome);
    EXPECT_GE(child.seconds, 0.35);
    EXPECT_LT(child.seconds, 30.0);
}

TEST(SupervisorStop, AChildThatIgnoresBothIsKilledAfterBothDeadlines) {
    Supervised child({"ignore_signals", "all"});
    auto limits = short_limits();
    limits.total = 200ms;
    child.run(limits);
    ASSERT_TRUE(child.ended_as<TimedOut>()) << to_text(child.outcome);
    EXPECT_GE(child.seconds, 0.5);
    EXPECT_LT(child.seconds, 20.0);
    EXPECT_TRUE(no_child_is_left());
}

TEST(SupervisorStop, TheHandlersReasonIsTheOutcome) {
    Supervised child({"say_raw", R"({"type":"no_such_type","seq":2})"});
    child.listener.answer = [&](const Json& message) -> std::optional<Json> {
        if (message["type"] == "no_such_type") child.listener.stop = "unknown message type";
        return std::nullopt;
    };
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->by, "unknown message type");
    EXPECT_EQ(child.ended_as<Stopped>()->signal, 0);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
}

TEST(SupervisorStop, AClosedChannelWithoutGoodbyeEndsTheChild) {
    Supervised child({"close_channel"});
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->by, "it closed its channel and went on running");
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
    EXPECT_LT(child.seconds, 10.0);
}

TEST(SupervisorStop, AfterGoodbyeAChildMayTakeItsTimeToEnd) {
    Supervised child({"close_channel", "bye"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 4);
    EXPECT_GE(child.seconds, 1.2);
}

TEST(SupervisorStop, AnEndlessFloodOfMessagesDoesNotHoldOffTheLimit) {
    Supervised child({"flood_channel"});
    child.spec.events_file.clear();
    auto limits = short_limits();
    limits.total = 300ms;
    child.run(limits);
    ASSERT_TRUE(child.ended_as<TimedOut>()) << to_text(child.outcome);
    EXPECT_GT(child.listener.messages.size(), 100U);
    EXPECT_LT(child.seconds, 20.0);
}

TEST(SupervisorStop, AChildThatNeverReadsItsAnswersIsStoppedAndBlocksNobody) {
    Supervised child({"never_reads"});
    child.spec.events_file.clear();
    child.listener.answer = [](const Json&) {
        return std::optional<Json>(Json{{"type", "more"}, {"text", std::string(4096, 'x')}});
    };
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->by, "the child does not read its answers");
    EXPECT_LT(child.seconds, 20.0);
}

TEST_F(SupervisorSignals, TheFirstInterruptLetsTheChildEndWellAndItsLastRowsCount) {
    Supervised child({"stop_well"});
    raise_at_first_row(child, SIGINT);
    child.run(ChildLimits{});
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->by, "interrupted by SIGINT");
    EXPECT_EQ(child.ended_as<Stopped>()->signal, SIGINT);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1", "row 2"));
    EXPECT_TRUE(no_child_is_left());
}

TEST_F(SupervisorSignals, SigtermIsNamedAsSuch) {
    Supervised child({"sleep"});
    raise_at_first_row(child, SIGTERM);
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->signal, SIGTERM);
}

TEST_F(SupervisorSignals, AnInterruptOfAStubbornChildRunsTheWholeSequence) {
    Supervised child({"ignore_signals", "all"});
    raise_at_first_row(child, SIGINT);
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->signal, SIGINT);
    EXPECT_GE(child.seconds, 0.3);
    EXPECT_TRUE(no_child_is_left());
}

TEST_F(SupervisorSignals, TheSecondInterruptKillsAtOnce) {
    Supervised child({"ignore_signals", "all"});
    raise_at_first_row(child, SIGINT);
    child.listener.tick = [raised = false]() mutable {
        if (SignalGuard::count() == 1 && !std::exchange(raised, true)) ::raise(SIGINT);
    };
    auto limits = short_limits();
    limits.interrupt = 60s;  // the sequence alone would take two minutes
    limits.terminate = 60s;
    child.run(limits);
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->signal, SIGINT);
    EXPECT_LT(child.seconds, 30.0);
    EXPECT_EQ(SignalGuard::count(), 2);
    EXPECT_TRUE(no_child_is_left());
}

TEST_F(SupervisorSignals, AnInterruptKillsDescendantsThatIgnoreIt) {
    Supervised child({"hold_pipe", "leave_group"});
    raise_at_first_row(child, SIGINT);
    child.run();
    EXPECT_TRUE(no_child_is_left());
}

}  // namespace
}  // namespace opgauge
