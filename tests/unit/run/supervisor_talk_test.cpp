// SPDX-License-Identifier: Apache-2.0
// What passes between a child and its handler, and what is kept of it.
#include "opgauge/run/supervisor.h"

#include "tests/support/supervised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace opgauge {
namespace {

using opgauge::testing::no_child_is_left;
using opgauge::testing::Supervised;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::optional<Json> echo_type(const Json& message) {
    if (message["type"] == "event" || message["type"] == "bye") return std::nullopt;
    return Json{{"type", "answer to " + get_string(message, "type")}};
}

// Runs say_raw with one bad line and gives the reason for which it was stopped.
std::string stopped_for(const std::string& line) {
    Supervised child({"say_raw", line});
    child.run();
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
    EXPECT_TRUE(no_child_is_left());
    const auto* stopped = child.ended_as<Stopped>();
    return stopped != nullptr ? stopped->by : to_text(child.outcome);
}

TEST(SupervisorTalk, AnAnswerThatComesLaterIsToTheQuestionThatWaits) {
    Supervised child({"converse"});
    int asked = 0;
    child.listener.answer = [&](const Json& message) -> std::optional<Json> {
        if (message["type"] != "device") return echo_type(message);
        child.listener.later = [&asked]() -> std::optional<Json> {
            if (++asked < 3) return std::nullopt;
            return Json{{"type", "late"}};
        };
        return std::nullopt;
    };
    ChildLimits limits = opgauge::testing::short_limits();
    limits.stall = std::chrono::milliseconds(150);  // shorter than three ticks
    limits.total = std::chrono::milliseconds(300);
    child.run(limits);
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 0) << "it checks the number of each answer";
    EXPECT_EQ(asked, 3);
}

TEST(SupervisorTalk, AChildThatIsStoppedWhileItWaitsGetsNoAnswer) {
    Supervised child({"converse"});
    child.listener.answer = [](const Json&) -> std::optional<Json> { return std::nullopt; };
    int asked = 0;
    child.listener.later = [&]() -> std::optional<Json> {
        ++asked;
        child.listener.stop = "enough of it";
        return std::nullopt;
    };
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->by, "enough of it");
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(no_child_is_left());
}

TEST(SupervisorTalk, EachQuestionGetsTheAnswerToItsNumber) {
    Supervised child({"converse"});
    child.spec.environment.emplace_back("OPGAUGE_CHANNEL_FD=999");  // of an opgauge above us
    child.listener.answer = echo_type;
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 0);
    std::vector<std::string> answers;
    for (const auto& message : child.listener.messages) {
        if (message["type"] == "event") answers.push_back(message["answer"]["type"]);
    }
    EXPECT_THAT(answers,
                ElementsAre("answer to hello", "answer to device", "answer to case_begin"));
}

TEST(SupervisorTalk, TheEventsFileHoldsBothDirectionsInOrder) {
    Supervised child({"converse"});
    child.listener.answer = echo_type;
    child.run();
    const auto events = child.events();
    ASSERT_EQ(events.size(), 10U);  // 3 questions, 3 answers, 3 events, bye
    double before = 0;
    for (const auto& event : events) {
        const double time = event["t_s"];
        EXPECT_GE(time, before);
        before = time;
    }
    EXPECT_EQ(events[0]["from"], "child");
    EXPECT_EQ(events[0]["message"]["type"], "hello");
    EXPECT_EQ(events[1]["from"], "parent");
    EXPECT_EQ(events[1]["message"], (Json{{"type", "answer to hello"}, {"to", 1}}));
    EXPECT_EQ(events[9]["message"]["type"], "bye");
}

TEST(SupervisorTalk, TwentyThousandRowsAllArriveInOrder) {
    Supervised child({"flood_channel", "20000"});
    child.spec.events_file.clear();
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    const auto rows = child.listener.rows();
    ASSERT_EQ(rows.size(), 20000U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i], "row " + std::to_string(i + 1));
    }
}

TEST(SupervisorTalk, AFloodOfOutputGoesToTheLogWhole) {
    Supervised child({"flood_output"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(std::filesystem::file_size(child.spec.log_file), std::uintmax_t{64} << 20U);
    ASSERT_EQ(child.listener.messages.size(), 1U);
    EXPECT_EQ(child.listener.messages[0]["type"], "bye");
}

TEST(SupervisorTalk, ALogIsContinuedNotOverwritten) {
    Supervised child({"tell_world"});
    ASSERT_TRUE(write_file_atomically(child.spec.log_file, "before\n"));
    child.run();
    EXPECT_THAT(*read_file(child.spec.log_file), StartsWith("before\n{"));
}

TEST(SupervisorTalk, AChildWithoutStandardStreamsTalksOn) {
    Supervised child({"close_output"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.listener.messages.size(), 2U);
}

TEST(SupervisorTalk, HalfALineAtTheEndIsNoErrorAndIsKeptInTheEvents) {
    Supervised child({"half_line"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 5);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
    const auto events = child.events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1]["message"]["unfinished"], R"({"type":"log","seq":2,"te)");
}

TEST(SupervisorTalk, HalfALineBeforeAKillLeavesTheKillAsTheOutcome) {
    Supervised child({"half_line", "killed"});
    child.run();
    ASSERT_TRUE(child.ended_as<Signaled>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Signaled>()->signal, SIGKILL);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
}

TEST(SupervisorTalk, ALineThatIsNotJsonStopsTheChildAndIsShown) {
    EXPECT_EQ(stopped_for("Loading model..."),
              "protocol error: a channel line is not JSON: Loading model...");
}

TEST(SupervisorTalk, BytesThatAreNotUtf8StopTheChildAndAreShownEscaped) {
    EXPECT_EQ(stopped_for("{\"type\":\"log\",\"seq\":2,\"text\":\"\xff\xfe\"}"),
              "protocol error: a channel line is not JSON: "
              R"({"type":"log","seq":2,"text":"\xff\xfe"})");
}

TEST(SupervisorTalk, AWrongSequenceNumberStopsTheChild) {
    EXPECT_EQ(stopped_for(R"({"type":"log","seq":7})"),
              R"(protocol error: a channel line should have seq 2: {"type":"log","seq":7})");
}

TEST(SupervisorTalk, ALineThatNestsWithoutEndStopsTheChildAndNotUs) {
    const std::string line = R"({"type":"log","seq":2,"x":)" + std::string(100'000, '[');
    EXPECT_THAT(stopped_for(line), HasSubstr("a channel line nests too deep"));
}

TEST(SupervisorTalk, AnEndlessLineStopsTheChildAfterAMebibyte) {
    Supervised child({"endless_line"});
    child.run();
    ASSERT_TRUE(child.ended_as<Stopped>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Stopped>()->by,
              "protocol error: a channel line is longer than 1 MiB: " + std::string(200, 'x'));
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
    EXPECT_LT(child.seconds, 20.0);
}

TEST(SupervisorTalk, TicksComeWhileTheChildIsSilent) {
    Supervised child({"talk_slowly", "300"});
    child.run();
    // 1.5 s at five a second or more, and slack for a loaded machine.
    EXPECT_GE(child.listener.ticks, 5);
}

}  // namespace
}  // namespace opgauge
