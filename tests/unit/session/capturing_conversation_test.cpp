// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

// A conversation of a run that captures graphs, over more than one child.
class CapturingConversationTest : public ::testing::Test {
  protected:
    CapturingConversationTest() {
        JobSettings job;
        job.backend = "cuda";
        job.device = Json::parse(R"({"uuid":"GPU-1a2b-33"})");
        job.timer = "graph";
        job.fallback_timer = "event";
        talk_.emplace(
            job, CaptureMemory(), watch_, clock_, observer_,
            [this](const Row& row, const std::optional<SideSamples>&,
                   const std::optional<SideSamples>&) -> Result<void> {
                rows_.push_back(row);
                return {};
            },
            [](const Json&) {});
    }

    Json say(const Json& message) { return talk_->on_message(message).value_or(Json(nullptr)); }

    Json start_child() {
        const Json job = say({{"type", "hello"}, {"protocol", 1}});
        say({{"type", "device"}, {"backend", "cuda"}, {"count", 1}, {"uuid", "1A2B33"}});
        say({{"type", "collected"}, {"nodes", {"a.py::t", "a.py::u"}}, {"errors", Json::array()}});
        return job;
    }

    Json begin_case(int index) {
        return say({{"type", "case_begin"},
                    {"index", index},
                    {"case", {{"operator", "mm"}, {"dtype", "f"}, {"shapes", {index}}}}});
    }

    Json side(const char* name, const char* timer, double value) {
        say({{"type", "side_begin"}, {"side", name}, {"timer", timer}, {"estimate_ns", value}});
        return say({{"type", "samples"},
                    {"side", name},
                    {"timer", timer},
                    {"calls_per_sample", 1},
                    {"values_ns", std::vector<double>(20, value)}});
    }

    void whole_case(int index, const char* timer) {
        EXPECT_EQ(begin_case(index)["timer"], timer);
        side("base", timer, 2000);
        EXPECT_EQ(side("candidate", timer, 1000)["median_ns"], 1000.0);
        say({{"type", "case_end"}, {"status", "ok"}, {"check", {{"ok", true}}}});
    }

    Json capture_fails(const char* name) {
        return say({{"type", "capture_failed"},
                    {"side", name},
                    {"kind", "capture_refused"},
                    {"message", "operation not permitted when stream is capturing"}});
    }

    testing::FakeClock clock_;
    DeviceWatch watch_{nullptr, Heat::burst, clock_};
    RunObserver observer_;
    std::vector<Row> rows_;
    std::optional<Conversation> talk_;
};

// Case C09: capture fails for the second side only, case 2 of 4.
TEST_F(CapturingConversationTest, AFailedCaptureIsMeasuredAgainByAnotherChildOnBothSides) {
    EXPECT_EQ(start_child()["skip_nodes"], Json::array());
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    whole_case(1, "graph");
    EXPECT_EQ(begin_case(2)["timer"], "graph");
    side("base", "graph", 2000);
    EXPECT_EQ(capture_fails("candidate")["type"], "stop");
    ASSERT_TRUE(talk_->child_ended("the child exited with 87", Exited{87}));
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    EXPECT_EQ(begin_case(1)["type"], "skip");
    whole_case(2, "event");
    whole_case(3, "graph");
    whole_case(4, "graph");
    ASSERT_EQ(rows_.size(), 4U);
    for (const auto& row : rows_) {
        EXPECT_EQ(row.base->timer, row.candidate->timer);
        EXPECT_DOUBLE_EQ(*row.speedup(), 2.0);
    }
    EXPECT_EQ(rows_[1].index, 2);
    EXPECT_EQ(rows_[1].candidate->timer, "event");
    EXPECT_EQ(rows_[1].fallback, "capture_refused");
    EXPECT_EQ(rows_[1].fallback_detail,
              "candidate: operation not permitted when stream is capturing");
    EXPECT_EQ(rows_[2].fallback, "");
}

// Case C19: the capture kills the child.
TEST_F(CapturingConversationTest, ACaptureThatKillsTheChildIsNotTriedAgain) {
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    EXPECT_EQ(begin_case(1)["timer"], "graph");
    say({{"type", "event"}, {"name", "capture_begin"}, {"side", "base"}});
    ASSERT_TRUE(talk_->child_ended("the child was killed by signal 11", Signaled{11, true}));
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    whole_case(1, "event");
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].fallback, "capture_crashed");
    EXPECT_EQ(rows_[0].fallback_detail, "base: the child was killed by signal 11");
}

TEST_F(CapturingConversationTest, AfterTwoFailuresInARowTheOtherCasesOfATestAreNotTried) {
    for (int failing = 1; failing <= 2; ++failing) {
        start_child();
        say({{"type", "test_begin"}, {"node", "a.py::t"}});
        if (failing == 2) whole_case(1, "event");
        EXPECT_EQ(begin_case(failing)["timer"], "graph");
        capture_fails("base");
        ASSERT_TRUE(talk_->child_ended("", Exited{87}));
    }
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    EXPECT_EQ(begin_case(1)["type"], "skip");
    whole_case(2, "event");
    whole_case(3, "event");
    EXPECT_EQ(rows_[2].fallback_detail,
              "base: operation not permitted when stream is capturing (as the cases before it; "
              "not tried)");
    say({{"type", "test_end"}, {"node", "a.py::t"}, {"outcome", "passed"}});
    say({{"type", "test_begin"}, {"node", "a.py::u"}});
    EXPECT_EQ(begin_case(9)["timer"], "graph");
}

TEST_F(CapturingConversationTest, ALostDeviceCostsItsTestAndTheNextChildGoesOnBehindIt) {
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    begin_case(1);
    say({{"type", "case_end"},
         {"status", "failed"},
         {"error", {{"kind", "device_lost"}, {"message", "an illegal memory access"}}}});
    say({{"type", "test_end"}, {"node", "a.py::t"}, {"outcome", "failed"}});
    ASSERT_TRUE(talk_->child_ended("the child exited with 89", Exited{89}));
    EXPECT_EQ(start_child()["skip_nodes"], Json({"a.py::t"}));
    say({{"type", "test_begin"}, {"node", "a.py::u"}});
    whole_case(1, "graph");
    say({{"type", "test_end"}, {"node", "a.py::u"}, {"outcome", "passed"}});
    EXPECT_FALSE(talk_->child_ended("the child exited with 0", Exited{0}));
    EXPECT_EQ(rows_[0].reason, "an illegal memory access");
    EXPECT_EQ(rows_[1].status, RowStatus::ok);
}

TEST_F(CapturingConversationTest, AViewIsNoDeviceWorkAndNoFallback) {
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    begin_case(1);
    for (const char* name : {"base", "candidate"}) {
        EXPECT_EQ(say({{"type", "side_begin"},
                       {"side", name},
                       {"timer", "graph"},
                       {"no_device_work", true}})["type"],
                  "enough");
    }
    say({{"type", "case_end"}, {"status", "ok"}});
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].status, RowStatus::skipped);
    EXPECT_EQ(rows_[0].reason, "no_device_work: each side launches nothing on the device");
    EXPECT_EQ(rows_[0].fallback, "");
}

TEST_F(CapturingConversationTest, OutputsThatDifferFlagTheRow) {
    start_child();
    say({{"type", "test_begin"}, {"node", "a.py::t"}});
    begin_case(1);
    side("base", "graph", 10);
    side("candidate", "graph", 10);
    say({{"type", "case_end"},
         {"status", "ok"},
         {"check", {{"ok", false}, {"max_abs_error", 2.5}}}});
    EXPECT_EQ(rows_[0].flags, std::vector<std::string>{"outputs_differ"});
    EXPECT_EQ(rows_[0].check["max_abs_error"], 2.5);
}

}  // namespace
}  // namespace opgauge
