// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/replay.h"

#include "tests/support/temp_dir.h"
#include "tests/support/tuned.h"

#include <gmock/gmock.h>

namespace opgauge {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;
using testing::tuned;

class ReplayTest : public ::testing::Test {
  protected:
    ReplayTest() {
        auto store = TuningStore::open(folder_.path(), DatabaseAccess::create);
        (void)store->record(tuned(384, 64, 0.005), {});
        (void)store->record(tuned(1024, 128, 0.02), {});
    }
    std::string miss(const TuningKey& key, const Scope& now) {
        auto replay = Replay::open(folder_.path());
        const auto found = replay->find(key, now);
        const auto* missed = std::get_if<Miss>(&found);
        return missed == nullptr ? "found" : miss_text(key, *missed);
    }
    TempDir folder_;
    Winner known_ = tuned(384, 64, 0.005);
};

TEST_F(ReplayTest, FindsARecordedWinner) {
    auto replay = Replay::open(folder_.path());
    auto key = known_.key;
    key.key = Json::array({384.0, 384, "torch.float16"});
    const auto found = replay->find(key, known_.scope);
    ASSERT_TRUE(std::holds_alternative<Replayed>(found));
    EXPECT_EQ(std::get<Replayed>(found).winner.config, known_.config);
    EXPECT_EQ(replay->summary(), "1 of 2 recorded winners used");
}

TEST_F(ReplayTest, NamesTheReasonOfAMissWithBothValues) {
    auto now = known_.scope;
    EXPECT_EQ(miss(tuned(2, 1, 1).key, now), "mm at [2,2,\"torch.float16\"]: key not recorded");
    now.kernel_source_hash = "source2";
    EXPECT_THAT(miss(known_.key, now), HasSubstr("kernel source changed; kernel_source_hash: "
                                                 "recorded source1, now source2"));
    now = known_.scope;
    now.config_list_digest = "list2";
    EXPECT_THAT(miss(known_.key, now), HasSubstr("configuration list changed; config_list_digest: "
                                                 "recorded list1, now list2"));
    now = known_.scope;
    now.device_model = "A100";
    now.environment["TRITON_X"] = "1";
    EXPECT_THAT(miss(known_.key, now),
                HasSubstr("scope differs; device_model: recorded H200, now A100; "
                          "environment.TRITON_X: recorded unknown, now 1"));
    now = known_.scope;
    now.triton_source_hash = "with a comment above";
    EXPECT_EQ(miss(known_.key, now), "found");
}

TEST_F(ReplayTest, AcceptsAnotherScopeOnlyByName) {
    auto now = known_.scope;
    now.device_model = "A100";
    auto replay = Replay::open(folder_.path(), {"device_model"});
    const auto found = replay->find(known_.key, now);
    ASSERT_TRUE(std::holds_alternative<Replayed>(found));
    ASSERT_EQ(std::get<Replayed>(found).accepted.size(), 1U);
    EXPECT_EQ(std::get<Replayed>(found).accepted[0].now, "A100");
    now.driver = "other";
    EXPECT_TRUE(std::holds_alternative<Miss>(replay->find(known_.key, now)));
}

TEST_F(ReplayTest, DoesNotFindAnEvictedWinnerAgain) {
    auto replay = Replay::open(folder_.path());
    replay->evict(known_.key);
    const auto found = replay->find(known_.key, known_.scope);
    ASSERT_TRUE(std::holds_alternative<Miss>(found));
    EXPECT_EQ(std::get<Miss>(found).reason, MissReason::evicted);
    EXPECT_EQ(replay->summary(), "0 of 2 recorded winners used");
}

TEST(WinnersDigest, DependsOnlyOnWhichConfigurationWins) {
    const std::vector<Winner> one = {tuned(1, 64, 0.1), tuned(2, 32, 0.2)};
    const std::vector<Winner> same = {tuned(2, 32, 0.9), tuned(1, 64, 0.3)};
    const std::vector<Winner> other = {tuned(1, 64, 0.1), tuned(2, 64, 0.2)};
    EXPECT_EQ(winners_digest(one), winners_digest(same));
    EXPECT_NE(winners_digest(one), winners_digest(other));
}

}  // namespace
}  // namespace opgauge
