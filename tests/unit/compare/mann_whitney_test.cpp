// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/mann_whitney.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

// All 20 orders of three and three values, counted by hand: U = 0..9 occurs 1 1 2 3 3 3 3 2 1 1.
TEST(MannWhitney, CountsTheOrdersOfThreeAndThree) {
    MannWhitney test;
    const std::vector<int> orders = {1, 1, 2, 3, 3, 3, 3, 2, 1, 1};
    int above = 20;
    for (std::size_t u = 0; u < orders.size(); ++u) {
        EXPECT_NEAR(test.upper_tail(3, 3, u), above / 20.0, 1e-12) << u;
        above -= orders[u];
    }
    EXPECT_EQ(test.upper_tail(3, 3, 10), 0);
}

// Mann and Whitney 1947, table I: P(U <= u).
TEST(MannWhitney, AgreesWithThePublishedTable) {
    MannWhitney test;
    EXPECT_NEAR(test.upper_tail(4, 4, 16 - 1), 0.029, 0.0005);
    EXPECT_NEAR(test.upper_tail(4, 4, 16 - 3), 0.100, 0.0005);
    EXPECT_NEAR(test.upper_tail(5, 5, 25 - 2), 0.016, 0.0005);
    EXPECT_NEAR(test.upper_tail(5, 3, 15 - 1), 0.036, 0.0005);
    EXPECT_NEAR(test.upper_tail(8, 8, 64 - 13), 0.025, 0.0005);
    EXPECT_NEAR(test.upper_tail(8, 5, 40 - 6), 0.023, 0.0005);
}

TEST(MannWhitney, TheSmallestPIsTwoOrdersOfAll) {
    MannWhitney test;
    EXPECT_NEAR(test.smallest_p(3, 3), 2.0 / 20, 1e-12);
    EXPECT_NEAR(test.smallest_p(5, 5), 2.0 / 252, 1e-12);
    EXPECT_NEAR(test.smallest_p(12, 12), 2.0 / 2'704'156, 1e-15);
    EXPECT_EQ(test.smallest_p(1, 1), 1);
    EXPECT_EQ(test.smallest_p(0, 5), 1);
}

TEST(MannWhitney, AnIntervalNeedsFourAndFourValuesForNinetyFivePercent) {
    MannWhitney test;
    EXPECT_FALSE(test.interval_rank(3, 3, 0.95));
    EXPECT_EQ(test.interval_rank(4, 4, 0.95), 0U);
    EXPECT_EQ(test.interval_rank(5, 5, 0.95), 2U);
    EXPECT_EQ(test.interval_rank(8, 8, 0.95), 13U);
    EXPECT_FALSE(test.interval_rank(0, 8, 0.95));
}

TEST(MannWhitney, TheApproximationMeetsTheExactTailsWhereItTakesOver) {
    MannWhitney test;
    for (const std::size_t u : {2048U, 2300U, 2700U}) {
        const double exact = test.upper_tail(64, 64, u);
        // The same distance from the centre, in standard deviations, one value a side further on.
        const double deviation = (static_cast<double>(u) - 2048) / std::sqrt(4096.0 * 129 / 12);
        const double beyond = 4225.0 / 2 + deviation * std::sqrt(4225.0 * 131 / 12);
        EXPECT_NEAR(test.upper_tail(65, 65, static_cast<std::size_t>(beyond + 0.5)), exact,
                    0.1 * exact + 1e-5);
    }
}

}  // namespace
}  // namespace opgauge
