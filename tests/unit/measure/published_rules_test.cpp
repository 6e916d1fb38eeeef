// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/published_rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace opgauge {
namespace {

// `first`, `second`, `first`, ...
std::vector<double> alternating(int count, double first, double second) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(i % 2 == 0 ? first : second);
    return values;
}

TEST(Stdrel, NothingIsEnoughBeforeHalfASecondOfCalls) {
    const std::vector<double> steady(100, 1e6);
    EXPECT_FALSE(stdrel_is_finished(steady, 1));
    EXPECT_FALSE(stdrel_is_finished(steady, 5));  // 0.5 s
    EXPECT_TRUE(stdrel_is_finished(steady, 6));   // 0.6 s
}

TEST(Stdrel, FewerThanFiveSamplesHaveNoNoise) {
    EXPECT_FALSE(stdrel_is_finished({}, 1));
    EXPECT_FALSE(stdrel_is_finished(std::vector<double>(4, 1e9), 1));
    EXPECT_TRUE(stdrel_is_finished(std::vector<double>(5, 1e9), 1));
}

TEST(Stdrel, NoiseBelowHalfAPercentIsEnoughWhateverTheNumber) {
    EXPECT_TRUE(stdrel_is_finished(alternating(11, 1e8, 1.008e8), 1));   // 0.42 %
    EXPECT_FALSE(stdrel_is_finished(alternating(11, 1e8, 1.012e8), 1));  // 0.62 %
}

TEST(Stdrel, NoiseThatStaysIsLookedAtOnEachSixteenthSample) {
    EXPECT_FALSE(stdrel_is_finished(alternating(64, 1e7, 2e7), 1));  // too few values of the noise
    EXPECT_FALSE(stdrel_is_finished(alternating(79, 1e7, 2e7), 1));
    EXPECT_TRUE(stdrel_is_finished(alternating(80, 1e7, 2e7), 1));
    EXPECT_FALSE(stdrel_is_finished(alternating(81, 1e7, 2e7), 1));
    EXPECT_TRUE(stdrel_is_finished(alternating(96, 1e7, 2e7), 1));
}

TEST(Stdrel, NoiseThatGrowsGoesOn) {
    std::vector<double> values(40, 1e7);
    values.resize(80, 2e7);
    EXPECT_FALSE(stdrel_is_finished(values, 1));
}

TEST(Entropy, EqualValuesAreEnoughOnAnEvenNumber) {
    EXPECT_FALSE(entropy_is_finished({}));
    EXPECT_FALSE(entropy_is_finished(std::vector<double>(1, 1e6)));
    EXPECT_TRUE(entropy_is_finished(std::vector<double>(2, 1e6)));
    EXPECT_FALSE(entropy_is_finished(std::vector<double>(9, 1e6)));
    EXPECT_TRUE(entropy_is_finished(std::vector<double>(10, 1e6)));
}

TEST(Entropy, ValuesThatNeverRepeatGoOn) {
    std::vector<double> values;
    for (int i = 0; i < 600; ++i) values.push_back(1e6 + i);
    EXPECT_FALSE(entropy_is_finished(values));
    values.resize(20);
    EXPECT_FALSE(entropy_is_finished(values));
}

// Twenty values, then one again and again: the entropy of the last 299 samples only falls.
TEST(Entropy, AFallingEntropyIsEnough) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) values.push_back(1e6 + i);
    values.resize(400, 1e6);
    EXPECT_TRUE(entropy_is_finished(values));
}

// The entropy swings around 1 bit, and the line explains next to nothing of it.
TEST(Entropy, ALevelThatTheLineDoesNotExplainGoesOn) {
    EXPECT_FALSE(entropy_is_finished(alternating(2000, 1e6, 2e6)));
}

}  // namespace
}  // namespace opgauge
