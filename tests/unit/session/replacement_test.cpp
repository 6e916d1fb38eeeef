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

TEST(Replacement, ALostCaseIsNotTriedAgain) {
    Replacement replacement;
    replacement.lost_in_case("t", 2);
    EXPECT_TRUE(replacement.is_done("t", 2));
    EXPECT_FALSE(replacement.is_done("t", 3));
    EXPECT_TRUE(replacement.take_wanted());
    EXPECT_EQ(replacement.gave_up(), std::nullopt);
}

TEST(Replacement, ThreeLostInARowAreEnoughAndAFinishedCaseBreaksTheRow) {
    Replacement replacement;
    replacement.lost_in_case("t", 1);
    replacement.lost_between_cases();
    replacement.case_finished();
    replacement.lost_in_case("t", 3);
    replacement.lost_in_case("t", 4);
    EXPECT_TRUE(replacement.take_wanted());
    replacement.lost_in_case("t", 5);
    EXPECT_FALSE(replacement.take_wanted());
    EXPECT_EQ(replacement.gave_up(), "3 children in a row finished no case");
}

TEST(Replacement, AfterEightLostChildrenNoOtherIsStarted) {
    Replacement replacement;
    for (int lost = 1; lost <= Replacement::kMostLost; ++lost) {
        replacement.lost_in_case("t", lost);
        EXPECT_TRUE(replacement.take_wanted());
        replacement.case_finished();
    }
    replacement.lost_in_case("t", 9);
    EXPECT_FALSE(replacement.take_wanted());
    EXPECT_EQ(replacement.gave_up(), "9 children were lost");
}

}  // namespace
}  // namespace opgauge
