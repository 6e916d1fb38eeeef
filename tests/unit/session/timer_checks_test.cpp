// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/timer_checks.h"

#include "opgauge/base/file.h"
#include "opgauge/session/conformance.h"
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opgauge {
namespace {

Json facts(double twice = 137600) {
    return {{"hold", true},
            {"null_event_ns", {1600}},
            {"fill_small_event_ns", {3104}},
            {"fill_n_event_ns", {69600}},
            {"fill_2n_event_ns", {twice}},
            {"unit", {{{"host_ns", 20e6}, {"event_ns", 20e6}}}},
            {"fill_n_graph_ns", {68000}}};
}

Json setup_of(const Device& device) {
    return conformance_setup("fake", device, "1.0", "2.9.0");
}

Device device_with(const char* uuid) {
    Device device;
    device.name = "Fake Accelerator";
    device.token = "0";
    if (*uuid != '\0') device.uuid = uuid;
    return device;
}

// A run's checks with their own cache folder.
class TimerChecksTest : public ::testing::Test {
  protected:
    TimerChecks open(const std::string& timer) {
        identity_ = Json{{"timer", Json::object()}, {"unknown", Json::object()}};
        return open_timer_checks(timer, setup_, environment(), clock_, identity_);
    }
    Environment environment() const {
        Environment environment;
        environment.set("OPGAUGE_CACHE", folder_.path().string());
        return environment;
    }
    std::filesystem::path file() const { return conformance_file(environment(), setup_); }

    testing::TempDir folder_;
    testing::FakeClock clock_;
    Json setup_ = setup_of(device_with("FAKE-0000"));
    Json identity_;
};

TEST_F(TimerChecksTest, TheFirstRunAsksItsChildAndTheNextReadsWhatItTold) {
    TimerChecks first = open("graph");
    EXPECT_EQ(first.asked(), (std::vector<std::string>{"event", "graph"}));
    EXPECT_EQ(identity_["unknown"]["timer.conformance"], "the child has not told");
    EXPECT_DOUBLE_EQ(first.floor_of("event", 1), 0);
    first.take({{"type", "conformance"}, {"facts", facts()}});
    EXPECT_TRUE(first.asked().empty());
    EXPECT_DOUBLE_EQ(first.floor_of("event", 1), 1600);
    const Json summary = {{"measured_utc", "2026-12-01T14:05:09Z"},
                          {"floor_ns", 1600.0},
                          {"empty_kernel_ns", nullptr},
                          {"resolution_ns", nullptr},
                          {"failed", Json::array()}};
    EXPECT_EQ(identity_["timer"]["conformance"], summary);
    EXPECT_EQ(identity_["unknown"], Json::object());

    const TimerChecks second = open("event");
    EXPECT_TRUE(second.asked().empty());
    EXPECT_DOUBLE_EQ(second.floor_of("graph", 16), 100);
    EXPECT_EQ(identity_["timer"]["conformance"], summary);
}

TEST_F(TimerChecksTest, ARecordWithoutGraphsIsMadeAgainForARunWithThem) {
    Json events = facts();
    events.erase("fill_n_graph_ns");
    open("event").take({{"facts", events}});
    EXPECT_TRUE(open("event").asked().empty());
    EXPECT_EQ(open("graph").asked().size(), 2U);
}

TEST_F(TimerChecksTest, AnUnreadableOrOldRecordIsNone) {
    for (const char* text :
         {"", "{", "[]", R"({"schema_version": 0})", R"({"schema_version": 1})"}) {
        std::filesystem::create_directories(file().parent_path());
        ASSERT_TRUE(write_file_atomically(file(), text));
        EXPECT_FALSE(read_conformance(file())) << text;
        EXPECT_EQ(open("event").asked(), std::vector<std::string>{"event"}) << text;
    }
}

TEST_F(TimerChecksTest, FactsThatCannotBeJudgedAreNotKept) {
    TimerChecks checks = open("event");
    checks.take({{"facts", {{"problem", "out of memory"}}}});
    EXPECT_TRUE(checks.asked().empty());
    EXPECT_TRUE(checks.conforms("event"));
    EXPECT_EQ(identity_["unknown"]["timer.conformance"], "checking the timers: out of memory");
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(TimerChecksTest, AChildThatDiesOfTheCheckIsReplacedOnce) {
    TimerChecks checks = open("graph");
    EXPECT_TRUE(checks.child_ended("the child was killed by signal 11 (SIGSEGV)"));
    EXPECT_EQ(identity_["unknown"]["timer.conformance"],
              "checking the timers: the child was killed by signal 11 (SIGSEGV)");
    EXPECT_TRUE(checks.asked().empty());
    EXPECT_FALSE(checks.child_ended("the child exited with 1"));
}

TEST_F(TimerChecksTest, OtherTimersAreNotChecked) {
    const TimerChecks checks = open("direct");
    EXPECT_TRUE(checks.asked().empty());
    EXPECT_EQ(identity_["timer"]["conformance"], nullptr);
    EXPECT_EQ(identity_["unknown"]["timer.conformance"], "timer direct has no floor of its own");
}

TEST(ConformanceSetup, ADeviceIsKnownByItsUuidElseByItsPlaceOnItsHost) {
    EXPECT_EQ(
        setup_of(device_with("FAKE-0000")),
        (Json{
            {"backend", "fake"}, {"device", "FAKE-0000"}, {"driver", "1.0"}, {"torch", "2.9.0"}}));
    Device unnamed = device_with("");
    unnamed.pci_id = "0000:19:00.0";
    const std::string place = setup_of(unnamed)["device"].get<std::string>();
    EXPECT_EQ(place.rfind("Fake Accelerator 0000:19:00.0 of ", 0), 0U) << place;
    EXPECT_NE(setup_of(device_with("FAKE-0000")), setup_of(device_with("FAKE-1111")));
}

// A conversation of a run with these checks.
class CheckedConversation : public TimerChecksTest {
  protected:
    Conversation talk(TimerChecks checks) {
        JobSettings job;
        job.backend = "fake";
        job.device = {{"token", "0"}, {"uuid", "FAKE-0000"}, {"pci_id", nullptr}, {"name", "F"}};
        job.timer = "event";
        job.timer_checks = std::move(checks);
        return {std::move(job),
                CaptureMemory(),
                watch_,
                clock_,
                observer_,
                [this](const Row& row, const auto&, const auto&) -> Result<void> {
                    rows_.push_back(row);
                    return {};
                },
                [](const Json&) {}};
    }

    static Json say(Conversation& talk, const char* text) {
        return talk.on_message(Json::parse(text)).value_or(Json(nullptr));
    }

    static Json begin(Conversation& talk) {
        Json job = say(talk, R"({"type":"hello","seq":1,"protocol":1,"pid":1})");
        say(talk, R"({"type":"collected","nodes":["t.py::a"],"errors":[]})");
        say(talk, R"({"type":"device","seq":2,"backend":"fake","count":1,"uuid":"FAKE-0000"})");
        return job;
    }

    static void measure(Conversation& talk, const char* values) {
        say(talk, R"({"type":"test_begin","node":"t.py::a"})");
        say(talk, R"({"type":"case_begin","case":{"operator":"a","dtype":"f","shapes":[]}})");
        say(talk, R"({"type":"side_begin","side":"candidate","timer":"event"})");
        const std::string samples =
            R"({"type":"samples","side":"candidate","timer":"event","complete":true,)"
            R"("values_ns":)";
        say(talk, (samples + values + "}").c_str());
        say(talk, R"({"type":"case_end","status":"ok"})");
    }

    DeviceWatch watch_{nullptr, Heat::burst, clock_};
    RunObserver observer_;
    std::vector<Row> rows_;
};

TEST_F(CheckedConversation, SamplesBelowTheFloorEnterNothing) {
    Conversation run = talk(TimerChecks(*judge_conformance(facts())));
    EXPECT_FALSE(begin(run).contains("conformance"));
    measure(run, "[3104, 1599, 3136]");
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].status, RowStatus::ok);
    EXPECT_EQ(rows_[0].candidate->summary->count, 2U);
    EXPECT_EQ(rows_[0].candidate->invalid_samples,
              std::vector<std::string>{"1599 ns, below the timer's floor of 1600 ns"});
    EXPECT_TRUE(rows_[0].flags.empty());
}

TEST_F(CheckedConversation, RowsOfATimerThatFailedACheckAreFlagged) {
    Conversation run = talk(open("event"));
    EXPECT_EQ(begin(run)["conformance"], Json{"event"});
    run.on_message({{"type", "conformance"}, {"facts", facts(70000)}});
    EXPECT_FALSE(run.wants_stop());
    measure(run, "[3104]");
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].flags, std::vector<std::string>{"timer_nonconforming"});
}

TEST_F(CheckedConversation, AChildThatDiesOfTheCheckIsFollowedByOneThatIsNotAsked) {
    Conversation run = talk(open("event"));
    begin(run);
    EXPECT_TRUE(run.child_ended("the child was killed by signal 11", Signaled{11, false}));
    EXPECT_FALSE(begin(run).contains("conformance"));
    EXPECT_TRUE(run.result().lost.empty());
    EXPECT_TRUE(run.child_ended("the child was killed by signal 11", Signaled{11, false}));
    EXPECT_EQ(run.result().lost.size(), 1U);
}

TEST_F(CheckedConversation, AChildThatEndsBeforeTheGuardIsNotReplaced) {
    Conversation run = talk(open("event"));
    say(run, R"({"type":"hello","seq":1,"protocol":1,"pid":1})");
    say(run, R"({"type":"collected","nodes":["t.py::a"],"errors":[]})");
    EXPECT_FALSE(run.child_ended("the child exited with 1", Exited{1}));
}

}  // namespace
}  // namespace opgauge
