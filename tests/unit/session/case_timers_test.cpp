// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/case_timers.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

CaptureFailure failure(const std::string& case_id) {
    return {case_id, "base", "capture_refused", "no", false};
}

TEST(CaseTimers, EachCaseHasTheRunsTimerUntilItsCaptureFails) {
    CaseTimers timers("graph", "event", CaptureMemory());
    EXPECT_EQ(timers.choose("1", "t").timer, "graph");
    EXPECT_EQ(timers.choose("1", "t").fallback, "");
    timers.failed(failure("1"), "t");
    const CaseTimer again = timers.choose("1", "t");
    EXPECT_EQ(again.timer, "event");
    EXPECT_EQ(again.fallback, "capture_refused");
    EXPECT_EQ(again.detail, "base: no");
    EXPECT_EQ(timers.choose("2", "t").timer, "graph");
}

TEST(CaseTimers, AnotherTimerAsksNoMemory) {
    CaptureMemory memory;
    memory.add(failure("1"));
    CaseTimers timers("event", "direct", std::move(memory));
    EXPECT_EQ(timers.choose("1", "t").timer, "event");
}

TEST(CaseTimers, TwoFailuresInARowOfOneTestSpareItsOtherCases) {
    CaseTimers timers("graph", "event", CaptureMemory());
    timers.failed(failure("1"), "t");
    timers.failed(failure("2"), "t");
    const CaseTimer third = timers.choose("3", "t");
    EXPECT_EQ(third.timer, "event");
    EXPECT_EQ(third.detail, "base: no (as the cases before it; not tried)");
    EXPECT_EQ(timers.choose("4", "u").timer, "graph");
    EXPECT_EQ(timers.choose("3", "t").timer, "event");  // known by now
    EXPECT_EQ(timers.choose("5", "t").timer, "graph");  // the row was broken by the other test
}

TEST(CaseTimers, ASuccessBetweenBreaksTheRow) {
    CaseTimers timers("graph", "event", CaptureMemory());
    timers.failed(failure("1"), "t");
    timers.captured("2");
    timers.failed(failure("3"), "t");
    EXPECT_EQ(timers.choose("4", "t").timer, "graph");
}

TEST(CaseTimers, FailuresOfTwoTestsAreNoRow) {
    CaseTimers timers("graph", "event", CaptureMemory());
    timers.failed(failure("1"), "t");
    timers.failed(failure("2"), "u");
    EXPECT_EQ(timers.choose("3", "u").timer, "graph");
}

TEST(CaseTimers, WhatAnEarlierRunFoundIsKnownAndASuccessIsToo) {
    const testing::TempDir folder;
    const auto file = folder.path() / "setup.jsonl";
    const auto open = [&] {
        return CaseTimers("graph", "event",
                          std::move(*CaptureMemory::open(file, CaptureMemory::Known::keep)));
    };
    open().failed(failure("1"), "t");
    EXPECT_EQ(open().choose("1", "t").timer, "event");
    open().captured("1");
    EXPECT_EQ(open().choose("1", "t").timer, "graph");
}

}  // namespace
}  // namespace opgauge
