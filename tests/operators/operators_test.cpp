// SPDX-License-Identifier: Apache-2.0
#include "operators/operator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace opgauge::operators {
namespace {

TEST(Compare, AllowsOneStepOfTheStoredTypeAndNoMore) {
    const std::vector<float> one = {1.0F};
    EXPECT_TRUE(compare(one, {1.0F + 0x1p-23F}, Dtype::float32, 1, 0).ok);
    EXPECT_FALSE(compare(one, {1.0F + 0x1p-21F}, Dtype::float32, 1, 0).ok);
    EXPECT_TRUE(compare(one, {1.0F + 0x1p-7F}, Dtype::bfloat16, 1, 0).ok);
    EXPECT_FALSE(compare(one, {1.0F + 0x1p-5F}, Dtype::bfloat16, 1, 0).ok);
}

TEST(Compare, NanAndMissingElementsAreMismatches) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(compare({1, 2}, {1, nan}, Dtype::float32, 1, 1).ok);
    EXPECT_FALSE(compare({nan}, {nan}, Dtype::float32, 1, 1).ok);
    EXPECT_FALSE(compare({1, 2}, {1}, Dtype::float32, 1, 1).ok);
    EXPECT_FALSE(compare({}, {}, Dtype::float32, 1, 1).ok);
}

class EachOperator : public ::testing::TestWithParam<std::size_t> {
  protected:
    const Operator& op() const { return all_operators()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(All, EachOperator, ::testing::Range<std::size_t>(0, 6),
                         [](const auto& chosen) { return all_operators()[chosen.param].name; });

// The largest reductions of the corpus: there a tolerance that grows too fast passes anything.
TEST_P(EachOperator, SidesAgreeAndZerosOrOneWrongElementDoNot) {
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
        for (const auto& size : op().sizes(Level::core)) {
            const auto work = op().make(size, dtype);
            if (!work) continue;  // oneDNN has no such kernel on this processor
            work->poison();
            work->base();
            work->candidate();
            const auto expected = work->base_output();
            auto actual = work->candidate_output();
            const auto check = [&](const std::vector<float>& other) {
                return compare(expected, other, dtype, work->reduction, work->term);
            };
            EXPECT_TRUE(check(actual).ok) << check(actual).worst;
            EXPECT_FALSE(check(std::vector<float>(expected.size(), 0.0F)).ok);
            actual[actual.size() / 2] += 0.25F;
            EXPECT_FALSE(check(actual).ok);
        }
    }
}

TEST(Bfloat16, RoundsToNearestEvenAndKeepsNan) {
    EXPECT_EQ(from_bfloat16(to_bfloat16(1.0F)), 1.0F);
    EXPECT_EQ(from_bfloat16(to_bfloat16(1.0F + 0x1p-9F)), 1.0F);
    EXPECT_EQ(from_bfloat16(to_bfloat16(1.0F + 3 * 0x1p-9F)), 1.0F + 0x1p-7F);
    EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace opgauge::operators
