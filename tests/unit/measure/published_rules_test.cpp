// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/published_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// The rules as NVBench has them, value by value over the whole series: slow, and easy to believe.
double deviation_of(const std::vector<double>& values, double mean) {
    if (values.size() < 5) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const double value : values) sum += (value - mean) * (value - mean);
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

bool slow_stdrel(const std::vector<double>& values, int calls) {
    std::vector<double> noise;
    std::vector<double> seen;
    double sum = 0;
    for (const double value : values) {
        seen.push_back(value);
        sum += value;
        const double mean = sum / static_cast<double>(seen.size());
        const double relative = deviation_of(seen, mean) / mean;
        if (std::isfinite(relative)) noise.push_back(relative);
    }
    if (noise.size() > 512) noise.erase(noise.begin(), noise.end() - 512);
    if (sum * calls <= 0.5e9 || noise.empty()) return false;
    if (noise.back() < 0.005) return true;
    if (noise.size() <= 64 || values.size() % 16 != 0) return false;
    return deviation_of(noise, noise.back()) / noise.back() < 0.05;
}

// Times around 1e6 that step by 32, drift slowly and have a tail.
std::vector<double> long_series(std::size_t count, double drift) {
    std::vector<double> values;
    std::uint64_t state = 42;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const double noise = static_cast<double>(state >> 40U) / (1U << 24U);
        const double tail = noise > 0.97 ? 2e5 : 0;
        values.push_back(1e6 + 32 * std::floor(noise * 600) + tail +
                         drift * static_cast<double>(i));
    }
    return values;
}

TEST(Stdrel, ALongSeriesIsJudgedAsTheSlowWayJudgesIt) {
    for (const double drift : {0.0, 40.0}) {
        const auto all = long_series(1'200, drift);
        int finished = 0;
        for (std::size_t count = 40; count <= all.size(); count += 40) {
            const std::vector<double> values(all.begin(), all.begin() + std::ptrdiff_t(count));
            const bool slow = slow_stdrel(values, 1);
            EXPECT_EQ(stdrel_is_finished(values, 1), slow) << count << " " << drift;
            finished += slow ? 1 : 0;
        }
        EXPECT_GT(finished, 0);
        EXPECT_LT(finished, 20);
    }
}

// Recorded from the way that took the entropy after each sample of the whole series.
TEST(Entropy, ALongSeriesEndsWhereItAlwaysDid) {
    const auto all = long_series(1'600, 0);
    std::vector<std::size_t> finished;
    for (std::size_t count = 50; count <= all.size(); count += 50) {
        if (entropy_is_finished({all.data(), count})) finished.push_back(count);
    }
    ASSERT_EQ(finished.size(), 13U);
    EXPECT_EQ(finished.front(), 1'000U);
    EXPECT_EQ(finished.back(), 1'600U);
}

}  // namespace
}  // namespace opgauge
