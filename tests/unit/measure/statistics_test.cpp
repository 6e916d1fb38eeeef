// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace opgauge {
namespace {

TEST(Statistics, MedianAndQuartilesInterpolateLinearly) {
    const auto summary = summarize(std::vector<double>{4, 1, 3, 2});
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->count, 4U);
    EXPECT_DOUBLE_EQ(summary->median, 2.5);
    EXPECT_DOUBLE_EQ(summary->lower_quartile, 1.75);
    EXPECT_DOUBLE_EQ(summary->upper_quartile, 3.25);
    EXPECT_DOUBLE_EQ(summary->minimum, 1);
    EXPECT_DOUBLE_EQ(summary->maximum, 4);
}

TEST(Statistics, NoSamplesHaveNoSummary) {
    EXPECT_FALSE(summarize({}));
}

// Ranks from the published table of the sign test's 95 % intervals: n=6 (1,6), n=9 (2,8),
// n=20 (6,15), n=100 (40,61), one-based.
TEST(Statistics, MedianIntervalRanksMatchTheSignTestTable) {
    using Ranks = std::pair<std::size_t, std::size_t>;
    EXPECT_FALSE(median_interval_ranks(0, 0.95));
    EXPECT_FALSE(median_interval_ranks(5, 0.95));
    EXPECT_EQ(median_interval_ranks(6, 0.95), (Ranks{0, 5}));
    EXPECT_EQ(median_interval_ranks(9, 0.95), (Ranks{1, 7}));
    EXPECT_EQ(median_interval_ranks(20, 0.95), (Ranks{5, 14}));
    EXPECT_EQ(median_interval_ranks(100, 0.95), (Ranks{39, 60}));
}

TEST(Statistics, PrecisionIsHalfTheIntervalOverTheMedian) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) values.push_back(100.0 + i);
    const auto summary = summarize(values);
    ASSERT_TRUE(summary && summary->median_interval);
    EXPECT_DOUBLE_EQ(summary->median_interval->first, 105);
    EXPECT_DOUBLE_EQ(summary->median_interval->second, 114);
    EXPECT_DOUBLE_EQ(*summary->relative_precision(), 4.5 / 109.5);
}

TEST(Statistics, PrecisionIsUnknownBelowSixSamples) {
    EXPECT_FALSE(summarize(std::vector<double>{1, 1, 1, 1, 1})->relative_precision());
}

TEST(Statistics, OutliersAreCountedAndKept) {
    const auto summary = summarize(std::vector<double>{10, 10, 11, 11, 12, 12, 500});
    EXPECT_EQ(summary->outliers, 1U);
    EXPECT_DOUBLE_EQ(summary->maximum, 500);
    EXPECT_EQ(summary->count, 7U);
}

TEST(Statistics, GeometricMeanRefusesWhatIsNoRatio) {
    EXPECT_DOUBLE_EQ(*geometric_mean(std::vector<double>{2, 8}), 4);
    EXPECT_FALSE(geometric_mean({}));
    EXPECT_FALSE(geometric_mean(std::vector<double>{1, 0}));
    EXPECT_FALSE(geometric_mean(std::vector<double>{1, std::numeric_limits<double>::infinity()}));
}

}  // namespace
}  // namespace opgauge
