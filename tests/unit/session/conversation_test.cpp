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
        : talk_(job(), CaptureMemory(), watch_, clock_, observer_, sink(),
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
    DeviceWatch watch_{nullptr, Heat::burst, clock_};
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
    ASSERT_EQ(talk_.result().lost.size(), 1U);
    EXPECT_EQ(talk_.result().lost[0].kind, "oom");
}

TEST_F(ConversationTest, AChildThatDiesInsideACaseLeavesAFailedRow) {
    begin();
    begin_case();
    side("base", "[10]");
    talk_.child_ended("the child was killed by signal 9", Signaled{9, false});
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].status, RowStatus::failed);
    EXPECT_EQ(rows_[0].error["kind"], "crashed");
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
    say(R"({"type":"test_end","node":"t.py::test_mm","outcome":"failed","reason":"no float16",)"
        R"("dtypes":["bool"]})");
    say(R"({"type":"bye","exit":1})");
    const RunStatus status = judge_run(Exited{1}, talk_.result());
    EXPECT_EQ(status.status, "skipped");
    EXPECT_EQ(status.exit_code, 0);
    EXPECT_EQ(status.reason, "t.py::test_mm: dtype not supported: it has bool: no float16");
}

TEST_F(ConversationTest, TheDtypesOfATestAreThoseThatItToldItself) {
    begin();
    say(R"({"type":"test_end","node":"t.py::test_mm","outcome":"passed","dtypes":["int16","bool"]})");
    say(R"({"type":"test_begin","node":"t.py::test_next"})");
    say(R"({"type":"test_end","node":"t.py::test_next","outcome":"passed"})");
    const auto& tests = talk_.result().tests;
    ASSERT_EQ(tests.size(), 2U);
    EXPECT_EQ(tests[0].dtypes, (std::vector<std::string>{"int16", "bool"}));
    EXPECT_FALSE(tests[0].dtype_not_supported);
    EXPECT_TRUE(tests[1].dtypes.empty());
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
    said.children = 1;
    said.said_bye = true;
    said.collected = {"t.py::test_mm"};
    said.rows_ok = 3;
    said.tests = {{"t.py::test_mm", "passed", "", 1.0, false, {}}};
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

LostCase crashed_case() {
    return {"crashed", "mm float16 2x2", "the child was killed by signal 9 (SIGKILL)"};
}

// C13: what is said of a child that was killed in a case.
TEST(RunStatus, ALostCaseNamesTheRunThoughAnotherChildEndedWell) {
    ConversationResult said = said_well();
    said.rows_failed = 1;
    said.lost = {crashed_case()};
    const RunStatus status = judge_run(Exited{0}, said);
    EXPECT_EQ(status.status, "crashed");
    EXPECT_EQ(status.reason,
              "1 of 4 cases crashed, first mm float16 2x2: the child was killed by signal 9 "
              "(SIGKILL)");
    EXPECT_EQ(status.exit_code, 1);
}

TEST(RunStatus, TheWorstLossNamesTheRunAndAnEndForGoodOutdoesThem) {
    ConversationResult said = said_well();
    said.lost = {{"device_lost", "a", "x"}};
    EXPECT_EQ(judge_run(Exited{0}, said).status, "failed");
    said.lost.push_back({"oom", "b", "x"});
    EXPECT_EQ(judge_run(Exited{0}, said).status, "oom");
    said.lost.push_back({"timeout", "c", "x"});
    EXPECT_EQ(judge_run(Exited{0}, said).status, "timeout");
    said.lost.push_back(crashed_case());
    EXPECT_EQ(judge_run(Exited{0}, said).status, "crashed");
    EXPECT_EQ(judge_run(Stopped{"SIGINT", 2}, said).status, "interrupted");
    EXPECT_EQ(judge_run(TimedOut{"timeout 600 s"}, said).reason, "timeout 600 s");
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

// Hooks that saw nothing while tuned kernels ran: the numbers are of unknown winners.
TEST(RunStatus, AnErrorThatTheChildLogsIsNoPass) {
    ConversationResult said = said_well();
    said.child_error = "tuned kernels were launched, no hook saw them";
    EXPECT_EQ(judge_run(Exited{0}, said).status, "failed");
    EXPECT_EQ(judge_run(Exited{0}, said).reason, *said.child_error);
}

TEST(RunStatus, AReplayThatCannotGoOnIsRefusedAndALockedStoreHasItsOwnStatus) {
    ConversationResult said = said_well();
    said.store_error = "cannot write tuning.db: it is locked (store_locked): try again";
    EXPECT_EQ(judge_run(Stopped{"x", 0}, said).status, "store_locked");
    EXPECT_EQ(judge_run(Stopped{"x", 0}, said).exit_code, 1);
    EXPECT_EQ(judge_run(Stopped{"SIGINT", 2}, said).status, "interrupted");
    said.store_error = "cannot write tuning.db: the disk is full";
    EXPECT_EQ(judge_run(Stopped{"x", 0}, said).status, "failed");
    EXPECT_EQ(judge_run(Stopped{"x", 0}, said).exit_code, 4);
    said.replay_refusal = "replay_miss: mm";
    EXPECT_EQ(judge_run(Exited{87}, said).exit_code, 3);
    EXPECT_EQ(judge_run(Exited{87}, said).reason, "replay_miss: mm");
}

TEST(RunStatus, MarkersAreCountedByRows) {
    Row one;
    one.flags = {"replay_miss", "throttled:heat@1200MHz"};
    Row two;
    two.flags = {"throttled:heat@1300MHz"};
    EXPECT_EQ(marker_counts({one, two}), (Json{{"replay_miss", 1}, {"throttled:heat", 2}}));
}

TEST(RunStatus, SkippedTestsAreNoFailureAndNoPass) {
    ConversationResult said = said_well();
    said.rows_ok = 0;
    said.tests = {{"t.py::test_mm", "skipped", "Issue #4131", 0, false, {}}};
    EXPECT_EQ(judge_run(Exited{0}, said).status, "skipped");
}

TEST(RunStatus, APassedTestWithoutARowIsNotBelieved) {
    ConversationResult said = said_well();
    said.rows_ok = 0;
    EXPECT_EQ(judge_run(Exited{0}, said).status, "failed");
}

}  // namespace
}  // namespace opgauge
