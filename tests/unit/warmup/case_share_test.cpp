// SPDX-License-Identifier: Apache-2.0
#include "opgauge/warmup/case_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace opgauge {
namespace {

using testing::ElementsAre;

AnnouncedCase announced(const std::string& id, int test, int index, double elements = 0) {
    return {id, test, index, elements};
}

TEST(CaseShare, CasesOfEqualSizeGoRound) {
    CaseShare share(3, {});
    std::vector<int> shards;
    for (int i = 0; i < 7; ++i) {
        const auto of = share.shards_of(announced("c" + std::to_string(i), 0, i));
        ASSERT_EQ(of.size(), 1U);
        shards.push_back(of.front());
    }
    EXPECT_THAT(shards, ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

TEST(CaseShare, TestsOfOneCaseGoRoundToo) {
    CaseShare share(4, {});
    std::vector<int> shards;
    for (int test = 0; test < 5; ++test) {
        shards.push_back(share.shards_of(announced("c", test, 1)).front());
    }
    EXPECT_THAT(shards, ElementsAre(0, 1, 2, 3, 0));
}

TEST(CaseShare, ALargeCaseCountsForSeveralSmallOnes) {
    CaseShare share(2, {});
    EXPECT_EQ(share.shards_of(announced("large", 0, 1, 3e8)).front(), 0);
    for (int i = 2; i < 6; ++i) {
        EXPECT_EQ(share.shards_of(announced("small", 0, i)).front(), 1) << i;
    }
    EXPECT_EQ(share.shards_of(announced("small", 0, 6)).front(), 0);
}

TEST(CaseShare, KnownCostsAreBalancedLongestFirst) {
    const CaseCosts costs = {{"a", 7}, {"b", 6}, {"c", 5}, {"d", 4}, {"e", 3}, {"f", 2}};
    CaseShare share(2, {}, costs);
    std::vector<double> load(2, 0);
    int index = 0;
    for (const auto& [id, seconds] : costs) {
        const int own = share.shards_of(announced(id, 0, index++)).front();
        load[static_cast<std::size_t>(own)] += seconds;
    }
    EXPECT_THAT(load, ElementsAre(14, 13));
}

TEST(CaseShare, EveryShardFindsTheSameThoughOneMissedTheEndOfATest) {
    CaseShare whole(3, {0.5, std::nullopt});
    CaseShare torn(3, {0.5, std::nullopt});
    torn.shards_of(announced("first", 0, 1));
    for (int i = 1; i < 5; ++i) whole.shards_of(announced("first", 0, i));
    for (int test = 1; test < 4; ++test) {
        for (int i = 1; i < 6; ++i) {
            const auto one = announced(std::to_string(test * 10 + i), test, i, i * 1e7);
            EXPECT_EQ(whole.shards_of(one), torn.shards_of(one));
        }
    }
}

TEST(CaseShare, ACaseThatIsAnnouncedAgainStaysWhereItWas) {
    CaseShare share(2, {});
    share.shards_of(announced("a", 0, 1));
    EXPECT_EQ(share.shards_of(announced("b", 0, 2)).front(), 1);
    EXPECT_EQ(share.shards_of(announced("b", 0, 2)).front(), 1);
    EXPECT_EQ(share.shards_of(announced("c", 0, 3)).front(), 0);
}

int tuned_twice(WarmupOverlap overlap, int shards, int cases) {
    CaseShare share(shards, overlap);
    int twice = 0;
    for (int i = 0; i < cases; ++i) {
        const auto of = share.shards_of(announced("case" + std::to_string(i), 0, i));
        EXPECT_TRUE(of.size() == 1 || of[0] != of[1]);
        twice += static_cast<int>(of.size()) - 1;
    }
    return twice;
}

TEST(CaseShare, AShareOfTheCasesIsTunedTwiceAndAtLeastOne) {
    EXPECT_EQ(tuned_twice({0.05, std::nullopt}, 4, 1), 1);
    EXPECT_NEAR(tuned_twice({0.05, std::nullopt}, 4, 2000), 100, 30);
    EXPECT_EQ(tuned_twice({0, std::nullopt}, 4, 100), 0);
    EXPECT_EQ(tuned_twice({1, std::nullopt}, 4, 100), 100);
    EXPECT_EQ(tuned_twice({0, 3}, 4, 100), 3);
    EXPECT_EQ(tuned_twice({1, std::nullopt}, 1, 100), 0);
}

TEST(CaseShare, ElementsOfTensorsAreSummed) {
    EXPECT_EQ(elements_of(Json::parse("[[4,5],[3],7,\"x\",[]]")), 24);
    EXPECT_EQ(elements_of(Json(nullptr)), 0);
}

}  // namespace
}  // namespace opgauge
