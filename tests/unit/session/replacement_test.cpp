// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/replacement.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(Replacement, NothingIsWantedAtFirst) {
    Replacement replacement;
    EXPECT_FALSE(replacement.take_wanted());
    EXPECT_EQ(replacement.skip_nodes(), Json::array());
    EXPECT_FALSE(replacement.is_done("t", 0));
}

TEST(Replacement, ARepeatedCaseIsMeasuredAgainAndThoseBeforeItAreNot) {
    Replacement replacement;
    replacement.test_finished("s");
    replacement.repeat_case("t", 3);
    EXPECT_TRUE(replacement.is_done("t", 2));
    EXPECT_FALSE(replacement.is_done("t", 3));
    EXPECT_FALSE(replacement.is_done("t", 4));
    EXPECT_FALSE(replacement.is_done("u", 2));
    EXPECT_EQ(replacement.skip_nodes(), Json({"s"}));
}

TEST(Replacement, OneWishIsOneChild) {
    Replacement replacement;
    replacement.repeat_case("t", 1);
    EXPECT_TRUE(replacement.take_wanted());
    EXPECT_FALSE(replacement.take_wanted());
    replacement.go_on_behind_test();
    EXPECT_TRUE(replacement.take_wanted());
    EXPECT_FALSE(replacement.take_wanted());
}

TEST(Replacement, EveryFinishedTestIsLeftOutInItsOrder) {
    Replacement replacement;
    replacement.test_finished("b");
    replacement.test_finished("a");
    EXPECT_EQ(replacement.skip_nodes(), Json({"b", "a"}));
}

}  // namespace
}  // namespace opgauge
