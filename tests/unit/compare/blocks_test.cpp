// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/blocks.h"

#include <gtest/gtest.h>

#include <numeric>

namespace opgauge {
namespace {

SideSamples counting(std::size_t count, const std::vector<std::size_t>& bursts = {}) {
    SideSamples side;
    side.values_ns.resize(count);
    std::iota(side.values_ns.begin(), side.values_ns.end(), 1.0);
    for (const std::size_t samples : bursts) {
        side.bursts.emplace_back();
        side.bursts.back().samples = samples;
    }
    return side;
}

TEST(Blocks, AreStretchesOfConsecutiveSamples) {
    EXPECT_EQ(block_medians(counting(8)), (std::vector<double>{2.5, 6.5}));
    EXPECT_EQ(block_medians(counting(120)).size(), kMostBlocks);
    EXPECT_EQ(block_medians(counting(120)).front(), 5.5);
}

TEST(Blocks, AShortRestJoinsTheLastOne) {
    EXPECT_EQ(block_medians(counting(11)), (std::vector<double>{2.5, 8}));
    EXPECT_EQ(block_medians(counting(7)), (std::vector<double>{4}));
}

TEST(Blocks, AreNeverCutInsideABurst) {
    EXPECT_EQ(block_medians(counting(10, {3, 4, 3})), (std::vector<double>{5.5}));
    EXPECT_EQ(block_medians(counting(12, {3, 3, 6})), (std::vector<double>{3.5, 9.5}));
}

TEST(Blocks, BurstsThatDoNotAddUpAreIgnored) {
    EXPECT_EQ(block_medians(counting(8, {3})), (std::vector<double>{2.5, 6.5}));
}

TEST(Blocks, TooFewSamplesGiveNone) {
    EXPECT_TRUE(block_medians(counting(3)).empty());
    EXPECT_TRUE(block_medians(counting(0)).empty());
}

}  // namespace
}  // namespace opgauge
