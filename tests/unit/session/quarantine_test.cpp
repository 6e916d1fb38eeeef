// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/quarantine.h"

#include "opgauge/base/file.h"

#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

class QuarantineTest : public ::testing::Test {
  protected:
    QuarantineTest() { environment_.set("OPGAUGE_CACHE", folder_.path().string()); }

    Quarantine open(Quarantine::Use use) { return open_quarantine(environment_, "setup", use); }
    static Row row(const char* kind) {
        Row row;
        row.case_id = "c1";
        row.work.operator_name = "mm";
        row.work.dtype = "float16";
        row.work.shapes = Json::parse("[[2,3]]");
        row.reason = "the child was killed by signal 11 (SIGSEGV)";
        row.error = {{"kind", kind}, {"message", row.reason}};
        return row;
    }

    testing::TempDir folder_;
    Environment environment_;
    testing::FakeClock clock_;
};

TEST_F(QuarantineTest, ACaseThatCostAChildIsSkippedByThoseWhoAskAndByNobodyElse) {
    open(Quarantine::Use::note).take(row("crashed"), clock_);
    const std::string date = utc_text(clock_.wall_time()).substr(0, 10);
    EXPECT_EQ(open(Quarantine::Use::skip).reason_to_skip("c1"),
              "quarantined: crashed on " + date + " (opgauge batch --quarantine lists)");
    EXPECT_EQ(open(Quarantine::Use::skip).reason_to_skip("c2"), std::nullopt);
    EXPECT_EQ(open(Quarantine::Use::note).reason_to_skip("c1"), std::nullopt);
    EXPECT_EQ(open(Quarantine::Use::none).reason_to_skip("c1"), std::nullopt);
}

TEST_F(QuarantineTest, TheListHasEachCaseOfEachSetup) {
    EXPECT_TRUE(list_quarantine(environment_)->empty());
    open(Quarantine::Use::note).take(row("timeout"), clock_);
    const auto all = list_quarantine(environment_);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->at("setup").size(), 1U);
    const QuarantinedCase& one = all->at("setup").front();
    EXPECT_EQ(one.case_id, "c1");
    EXPECT_EQ(one.operator_name, "mm");
    EXPECT_EQ(one.dtype, "float16");
    EXPECT_EQ(one.shapes, "2x3");
    EXPECT_EQ(one.kind, "timeout");
    EXPECT_EQ(one.message, "the child was killed by signal 11 (SIGSEGV)");
}

TEST_F(QuarantineTest, ACaseThatWorksAgainIsForgotten) {
    open(Quarantine::Use::note).take(row("crashed"), clock_);
    Row good = row("");
    good.status = RowStatus::ok;
    open(Quarantine::Use::note).take(good, clock_);
    EXPECT_EQ(open(Quarantine::Use::skip).reason_to_skip("c1"), std::nullopt);
    EXPECT_TRUE(list_quarantine(environment_)->empty());
}

TEST_F(QuarantineTest, MemoryAndOrdinaryFailuresAreNotRemembered) {
    for (const char* kind : {"oom", "error", "interrupted"}) {
        open(Quarantine::Use::note).take(row(kind), clock_);
    }
    EXPECT_TRUE(list_quarantine(environment_)->empty());
    open(Quarantine::Use::none).take(row("crashed"), clock_);
    EXPECT_TRUE(list_quarantine(environment_)->empty());
}

TEST_F(QuarantineTest, ATornLineCostsOnlyItself) {
    open(Quarantine::Use::note).take(row("crashed"), clock_);
    const auto file = folder_.path() / "quarantine/setup.jsonl";
    const std::string text = *read_file(file);
    ASSERT_TRUE(write_file_atomically(file, text + text.substr(0, 20)));
    open(Quarantine::Use::note).take(row("device_lost"), clock_);
    EXPECT_EQ(list_quarantine(environment_)->at("setup").front().kind, "device_lost");
}

}  // namespace
}  // namespace opgauge
