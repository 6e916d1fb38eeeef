// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/conversation.h"

#include "opgauge/session/run_status.h"

#include "tests/support/fake_clock.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

// A conversation with its rows kept, fed message by message as a child would.
class ConversationTest : public ::testing::Test {
  protected:
    ConversationTest()
        : talk_(job(), CaptureMemory(), clock_, observer_, sink(),
                [this](const Json&) { ++seen_; }) {}

    static JobSettings job() {
        JobSettings settings;
        settings.backend = "cuda";
        settings.device = Json::parse(
            R"({"token":"GPU-1a2b","uuid":"GPU-1a2b-33","pci_id":"0000:19:00.0","name":"H200"})");
        settings.timer = "direct";
        return settings;
    }

    Conversation::RowSink sink() {
        return [this](const Row& row, const std::optional<SideSamples>&,
                      const std::optional<SideSamples>&) -> Result<void> {
            rows_.push_back(row);
            if (!sink_error_.empty()) return fail(ErrorKind::environment, sink_error_);
            return {};
        };
    }

    Json say(const char* text) {
        return talk_.on_message(Json::parse(text)).value_or(Json(nullptr));
    }

    void begin() {
        say(R"({"type":"hello","seq":1,"protocol":1,"pid":1})");
        EXPECT_EQ(
            say(R"({"type":"device","seq":2,"backend":"cuda","count":1,"uuid":"1A2B33"})")["type"],
            "go");
        say(R"({"type":"collected","seq":3,"nodes":["t.py::test_mm"],"errors":[]})");
        say(R"({"type":"test_begin","seq":4,"node":"t.py::test_mm"})");
    }

    Json begin_case() {
        return say(R"({"type":"case_begin","seq":5,"planned":4,"case":{"operator":"mm",
            "dtype":"float16","shapes":[[2,2],[2,2]],"layout":null,"attributes":{}}})");
    }

    void side(const std::string& name, const std::string& values) {
        say((R"({"type":"side_begin","timer":"direct","side":")" + name + "\"}").c_str());
        say((R"({"type":"samples","timer":"direct","complete":true,"calls_per_sample":1,"side":")" +
             name + "\",\"values_ns\":" + values + "}")
                .c_str());
        say((R"({"type":"side_end","side":")" + name + "\"}").c_str());
    }

    testing::FakeClock clock_;
    RunObserver observer_;
    std::vector<Row> rows_;
    std::string sink_error_;
    int seen_ = 0;
    Conversation talk_;
};

TEST_F(ConversationTest, AWholeCaseBecomesARowAtOnce) {
    begin();
    EXPECT_EQ(begin_case()["type"], "measure");
    side("base", "[6048]");
    clock_.advance(std::chrono::seconds(2));
    side("candidate", "[139392]");
    say(R"({"type":"case_end","status":"ok","work":{"flops":16}})");
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].status, RowStatus::ok);
    EXPECT_NEAR(*rows_[0].speedup(), 0.0434, 0.0001);
    EXPECT_EQ(rows_[0].work.node, "t.py::test_mm");
    EXPECT_DOUBLE_EQ(rows_[0].seconds, 2.0);
    EXPECT_EQ(rows_[0].work_amount["flops"], 16);
    EXPECT_EQ(seen_, 1);
}

TEST_F(ConversationTest, AFailureInTheSecondCaseKeepsTheFirstRow) {
    begin();
    begin_case();
    side("base", "[10]");
    side("candidate", "[20]");
    say(R"({"type":"case_end","status":"ok"})");
    begin_case();
    say(R"({"type":"case_end","status":"failed","error":{"kind":"oom","message":"out of memory"}})");
    ASSERT_EQ(rows_.size(), 2U);
    EXPECT_EQ(rows_[0].status, RowStatus::ok);
    EXPECT_EQ(rows_[1].status, RowStatus::failed);
    EXPECT_EQ(rows_[1].reason, "out of memory");
    EXPECT_TRUE(talk_.result().out_of_memory);
}

TEST_F(ConversationTest, AChildThatDiesInsideACaseLeavesAFailedRow) {
    begin();
    begin_case();
    side("base", "[10]");
    EXPECT_FALSE(talk_.child_ended("the child was killed by signal 9", Signaled{9, false}));
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].status, RowStatus::failed);
    EXPECT_EQ(rows_[0].reason, "the child was killed by signal 9");
    EXPECT_FALSE(rows_[0].speedup());
}

TEST_F(ConversationTest, AnotherDeviceIsStoppedBeforeAnythingIsMeasured) {
    say(R"({"type":"hello","seq":1,"protocol":1})");
    const Json answer =
        say(R"({"type":"device","seq":2,"backend":"cuda","count":1,"uuid":"GPU-ffff"})");
    EXPECT_EQ(answer["type"], "stop");
    EXPECT_EQ(answer["reason"], "planned device has uuid GPU-1a2b-33, the child sees GPU-ffff");
    EXPECT_EQ(seen_, 0);
    begin_case();
    EXPECT_EQ(*talk_.wants_stop(), "protocol error: a case began before the device was checked");
    EXPECT_TRUE(rows_.empty());
}

TEST_F(ConversationTest, AnUnknownMessageAndAnotherProtocolStopTheChild) {
    say(R"({"type":"hello","seq":1,"protocol":2})");
    EXPECT_EQ(*talk_.wants_stop(),
              "protocol error: the child speaks protocol 2, this opgauge speaks 1");
}

TEST_F(ConversationTest, SamplesThatAreNoTimesMakeTheRowInvalid) {
    begin();
    begin_case();
    side("base", "[6048]");
    side("candidate", "[null]");
    say(R"({"type":"case_end","status":"ok"})");
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].status, RowStatus::invalid);
    EXPECT_EQ(rows_[0].reason, "candidate: not a finite number");
    EXPECT_EQ(talk_.result().rows_invalid, 1);
}

TEST_F(ConversationTest, AFullDiskStopsTheRunInsteadOfLosingRows) {
    sink_error_ = "no space left";
    begin();
    begin_case();
    say(R"({"type":"case_end","status":"failed","error":{"kind":"error","message":"x"}})");
    EXPECT_EQ(*talk_.wants_stop(), "the run folder cannot be written: no space left");
}

TEST_F(ConversationTest, ADtypeThatTheOperatorLacksIsASkipNotAFailure) {
    begin();
    say(R"({"type":"event","name":"dtype_not_supported","dtypes":["bool"]})");
    say(R"({"type":"test_end","node":"t.py::test_mm","outcome":"failed","reason":"no float16"})");
    say(R"({"type":"bye","exit":1})");
    const RunStatus status = judge_run(Exited{1}, talk_.result());
    EXPECT_EQ(status.status, "skipped");
    EXPECT_EQ(status.exit_code, 0);
    EXPECT_EQ(status.reason, "t.py::test_mm: dtype not supported: no float16");
}

TEST(DeviceCheck, OneUuidInTwoSpellingsIsOneDevice) {
    const Json planned = {{"uuid", "GPU-C56B2702-e2db-27d8"}, {"name", "X"}};
    EXPECT_FALSE(device_mismatch(
        "cuda", planned, {{"backend", "cuda"}, {"count", 1}, {"uuid", "c56b2702-E2DB-27d8"}}));
}

TEST(DeviceCheck, PciAddressesMatchWhateverTheirDomainsWidth) {
    const Json planned = {{"pci_id", "0000:19:00.0"}};
    EXPECT_FALSE(device_mismatch(
        "cuda", planned, {{"backend", "cuda"}, {"count", 1}, {"pci_id", "00000000:19:00.0"}}));
    EXPECT_EQ(*device_mismatch("cuda", planned,
                               {{"backend", "cuda"}, {"count", 1}, {"pci_id", "0000:1A:00.0"}}),
              "planned device has pci_id 0000:19:00.0, the child sees 0000:1A:00.0");
}

TEST(DeviceCheck, AVariantBehindAnUnderscoreIsTheSameModel) {
    const auto seen = [](const char* name) {
        return Json{{"backend", "ascend"}, {"count", 1}, {"name", name}};
    };
    EXPECT_FALSE(device_mismatch("ascend", {{"name", "Ascend910"}}, seen("Ascend910_9391")));
    EXPECT_TRUE(device_mismatch("ascend", {{"name", "Ascend910"}}, seen("Ascend910B3")));
}

TEST(DeviceCheck, NoDeviceTwoDevicesAndAnotherVendorAreNamed) {
    const Json planned = {{"name", "X"}};
    EXPECT_EQ(*device_mismatch("musa", planned, {{"backend", "musa"}, {"count", 0}}),
              "the child sees 0 devices, planned is exactly 1");
    EXPECT_EQ(*device_mismatch("musa", planned, {{"backend", "musa"}, {"count", 2}}),
              "the child sees 2 devices, planned is exactly 1");
    EXPECT_EQ(*device_mismatch("musa", planned, {{"backend", "cuda"}, {"count", 1}}),
              "planned backend is musa, the child's framework drives 'cuda'");
    EXPECT_EQ(*device_mismatch("musa", planned, {{"backend", "musa"}, {"count", 1}}),
              "the child's device could not be identified");
}

ConversationResult said_well() {
    ConversationResult said;
    said.said_hello = true;
    said.said_bye = true;
    said.collected = {"t.py::test_mm"};
    said.rows_ok = 3;
    said.tests = {{"t.py::test_mm", "passed", "", 1.0, false}};
    return said;
}

TEST(RunStatus, NamesEachEndOfAChild) {
    EXPECT_EQ(judge_run(Exited{0}, said_well()).status, "passed");
    EXPECT_EQ(judge_run(Signaled{11, true}, said_well()).status, "crashed");
    EXPECT_EQ(judge_run(TimedOut{"stall 120 s"}, said_well()).status, "timeout");
    EXPECT_EQ(judge_run(Stopped{"SIGINT", 2}, said_well()).exit_code, 130);
    EXPECT_EQ(judge_run(Stopped{"SIGTERM", 15}, said_well()).exit_code, 143);
    EXPECT_EQ(judge_run(NotStarted{"no such program"}, said_well()).exit_code, 4);
}

// C13: rows that came whole do not turn a child's exit with 3 into a pass.
TEST(RunStatus, AnExitCodeOfItsOwnIsAFailureWhateverRowsCame) {
    const RunStatus status = judge_run(Exited{3}, said_well());
    EXPECT_EQ(status.status, "failed");
    EXPECT_EQ(status.exit_code, 1);
}

// C16: nothing collected and a file that does not import are two different things.
TEST(RunStatus, NoTestsAndCollectErrorsAreTold) {
    ConversationResult said = said_well();
    said.rows_ok = 0;
    said.tests.clear();
    said.collected = std::vector<std::string>{};
    EXPECT_EQ(judge_run(Exited{5}, said).status, "no_tests");
    said.collect_errors = {{"t.py", "ImportError: x"}};
    const RunStatus status = judge_run(Exited{2}, said);
    EXPECT_EQ(status.status, "collect_error");
    EXPECT_EQ(status.reason, "t.py: ImportError: x");
    EXPECT_EQ(status.exit_code, 1);
}

TEST(RunStatus, SkippedTestsAreNoFailureAndNoPass) {
    ConversationResult said = said_well();
    said.rows_ok = 0;
    said.tests = {{"t.py::test_mm", "skipped", "Issue #4131", 0, false}};
    EXPECT_EQ(judge_run(Exited{0}, said).status, "skipped");
}

TEST(RunStatus, APassedTestWithoutARowIsNotBelieved) {
    ConversationResult said = said_well();
    said.rows_ok = 0;
    EXPECT_EQ(judge_run(Exited{0}, said).status, "failed");
}

// The same conversation with a run that captures graphs.
class CapturingConversationTest : public ::testing::Test {
  protected:
    CapturingConversationTest() {
        JobSettings job;
        job.backend = "cuda";
        job.device = Json::parse(R"({"uuid":"GPU-1a2b-33"})");
        job.timer = "graph";
        job.fallback_timer = "event";
        talk_.emplace(
            job, CaptureMemory(), clock_, observer_,
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
