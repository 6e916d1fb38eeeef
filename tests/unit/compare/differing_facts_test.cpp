// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/facts.h"
#include "opgauge/compare/pairing.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(Facts, MembersOfAnObjectAreFactsOfTheirOwnInAnyOrder) {
    const Json left = {{"driver", "1"}, {"environment", {{"A", "1"}, {"B", "2"}}}};
    const Json right = {{"driver", nullptr}, {"environment", {{"B", "2"}, {"A", "9"}}}};
    const auto differences = setup_fact_differences(left, right);
    ASSERT_EQ(differences.size(), 2U);
    EXPECT_EQ(to_text(differences[0]), "driver (A: 1, B: unknown)");
    EXPECT_EQ(to_text(differences[1]), "environment.A (A: 1, B: 9)");
    EXPECT_TRUE(setup_fact_differences(left, left).empty());
}

TEST(Facts, AnObjectAgainstNothingIsOneDifference) {
    const auto differences =
        setup_fact_differences({{"environment", {{"A", "1"}}}}, {{"environment", nullptr}});
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_EQ(to_text(differences[0]), "environment (A: {\"A\":\"1\"}, B: unknown)");
}

TEST(Facts, WhatIsLeftOutOfASetupHasItsUsualValue) {
    const auto differences = setup_fact_differences(Json::object(), {{"tune_timing", "race"}});
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_EQ(to_text(differences[0]), "tune_timing (A: full, B: race)");
    EXPECT_TRUE(setup_fact_differences(Json::object(), Json::object()).empty());
    EXPECT_TRUE(is_allowed("tune_timing", std::vector<std::string>{"tune_timing"}));
    EXPECT_TRUE(check_factors(std::vector<std::string>{"tune_timing"}));
}

TEST(Facts, AFactorAllowsWhatItNamesAndItsMembers) {
    const std::vector<std::string> factors = {"environment", "timer", "corpus.commit"};
    EXPECT_TRUE(is_allowed("environment.A", factors));
    EXPECT_TRUE(is_allowed("timer", factors));
    EXPECT_TRUE(is_allowed("timer_settings", factors));
    EXPECT_TRUE(is_allowed("corpus.commit", factors));
    EXPECT_FALSE(is_allowed("corpus.dirty", factors));
    EXPECT_FALSE(is_allowed("environments", factors));
    EXPECT_FALSE(is_allowed("driver", {}));
}

TEST(Facts, AnUnknownFactorIsAUsageErrorWithANearName) {
    EXPECT_TRUE(check_factors(std::vector<std::string>{"triton", "environment.ANY", "winners"}));
    const auto checked = check_factors(std::vector<std::string>{"tritn"});
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::usage);
    EXPECT_NE(checked.error().message.find("did you mean 'triton'?"), std::string::npos);
}

TEST(Facts, ForeignValuesCannotDriveTheTerminal) {
    EXPECT_EQ(to_text(FactDifference{"driver", "A", "\x1b[2J", "B", 2}),
              "driver (A: \\x1b[2J, B: 2)");
}

TEST(Pairing, AFlagIsKnownByItsKind) {
    EXPECT_EQ(flag_kind("throttled:sw_power_cap@1200"), "throttled");
    EXPECT_EQ(flag_kind("neighbours=3"), "neighbours");
    EXPECT_TRUE(is_flag_of_meaning("neighbours=3"));
    EXPECT_TRUE(is_flag_of_meaning("host_in_sample"));
    EXPECT_FALSE(is_flag_of_meaning("tuned_while_timed"));
    EXPECT_FALSE(is_flag_of_meaning("something_new"));
}

}  // namespace
}  // namespace opgauge
