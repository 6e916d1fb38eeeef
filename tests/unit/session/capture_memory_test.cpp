// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/capture_memory.h"

#include "opgauge/base/text.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

class CaptureMemoryTest : public ::testing::Test {
  protected:
    CaptureMemory open(CaptureMemory::Known known = CaptureMemory::Known::keep) {
        auto memory = CaptureMemory::open(file_, known);
        EXPECT_TRUE(memory);
        return memory ? std::move(*memory) : CaptureMemory();
    }
    std::size_t lines() const {
        const auto text = read_file(file_);
        return text ? lines_of(*text).size() : 0;
    }

    testing::TempDir folder_;
    std::filesystem::path file_ = folder_.path() / "captures" / "setup.jsonl";
};

const CaptureFailure kRefused = {"case-1", "base", "capture_refused", "not \"permitted\"\n", false};
const CaptureFailure kAssumed = {"case-2", "candidate", "not_captured", "in two words", true};

TEST_F(CaptureMemoryTest, FailuresComeBackAsTheyWere) {
    {
        CaptureMemory memory = open();
        EXPECT_EQ(memory.find("case-1"), nullptr);
        memory.add(kRefused);
        memory.add(kAssumed);
    }
    const CaptureMemory memory = open();
    const CaptureFailure* refused = memory.find("case-1");
    ASSERT_NE(refused, nullptr);
    EXPECT_EQ(refused->case_id, "case-1");
    EXPECT_EQ(refused->side, "base");
    EXPECT_EQ(refused->kind, "capture_refused");
    EXPECT_EQ(refused->message, "not \"permitted\"\n");
    EXPECT_FALSE(refused->assumed);
    ASSERT_NE(memory.find("case-2"), nullptr);
    EXPECT_TRUE(memory.find("case-2")->assumed);
    EXPECT_EQ(memory.find("case-3"), nullptr);
}

TEST_F(CaptureMemoryTest, ALaterLineReplacesAnEarlierOne) {
    CaptureMemory memory = open();
    memory.add(kRefused);
    CaptureFailure crashed = kRefused;
    crashed.kind = "capture_crashed";
    memory.add(crashed);
    EXPECT_EQ(memory.find("case-1")->kind, "capture_crashed");
    EXPECT_EQ(open().find("case-1")->kind, "capture_crashed");
    EXPECT_EQ(lines(), 2U);
}

TEST_F(CaptureMemoryTest, ACaseThatIsCapturedAfterAllIsALaterLine) {
    CaptureMemory memory = open();
    memory.add(kRefused);
    memory.add(kAssumed);
    memory.remove("case-1");
    memory.remove("case-3");  // never known: nothing is written
    EXPECT_EQ(memory.find("case-1"), nullptr);
    EXPECT_EQ(lines(), 3U);
    const CaptureMemory again = open();
    EXPECT_EQ(again.find("case-1"), nullptr);
    EXPECT_NE(again.find("case-2"), nullptr);
}

TEST_F(CaptureMemoryTest, WhatIsForgottenIsTriedAgainAndStaysInTheFile) {
    open().add(kRefused);
    EXPECT_EQ(open(CaptureMemory::Known::forget).find("case-1"), nullptr);
    EXPECT_NE(open().find("case-1"), nullptr);
}

TEST_F(CaptureMemoryTest, ASuccessOfTheSecondTryIsKept) {
    {
        CaptureMemory memory = open();
        memory.add(kRefused);
        memory.add(kAssumed);
    }
    {
        CaptureMemory memory = open(CaptureMemory::Known::forget);
        memory.remove("case-1");
        memory.add(kAssumed);
    }
    EXPECT_EQ(open().find("case-1"), nullptr);
    EXPECT_NE(open().find("case-2"), nullptr);
}

TEST_F(CaptureMemoryTest, ATornLastLineIsLeftOutAndTakesNoOtherAlong) {
    open().add(kRefused);
    std::ofstream(file_, std::ios::app) << R"({"case_id":"case-2","kin)";
    {
        CaptureMemory memory = open();
        EXPECT_NE(memory.find("case-1"), nullptr);
        EXPECT_EQ(memory.find("case-2"), nullptr);
        memory.add({"case-3", "base", "not_captured", "", false});
    }
    EXPECT_NE(open().find("case-3"), nullptr);
}

TEST_F(CaptureMemoryTest, WithoutAFileItRemembersWhileItLives) {
    CaptureMemory memory;
    memory.add(kRefused);
    EXPECT_NE(memory.find("case-1"), nullptr);
    memory.remove("case-1");
    EXPECT_EQ(memory.find("case-1"), nullptr);
}

TEST_F(CaptureMemoryTest, APlaceThatCannotBeWrittenIsAnError) {
    std::ofstream(folder_.path() / "file") << "";
    const auto memory =
        CaptureMemory::open(folder_.path() / "file" / "x.jsonl", CaptureMemory::Known::keep);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().kind, ErrorKind::environment);
}

}  // namespace
}  // namespace opgauge
