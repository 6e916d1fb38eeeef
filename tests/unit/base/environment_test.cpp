// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace opgauge {
namespace {

using ::testing::ElementsAre;

TEST(Environment, AnEmptyValueIsAValueUnlessAskedOtherwise) {
    Environment environment;
    environment.set("EMPTY", "");
    EXPECT_EQ(environment.get("EMPTY"), "");
    EXPECT_EQ(environment.get_non_empty("EMPTY"), std::nullopt);
    EXPECT_EQ(environment.get("ABSENT"), std::nullopt);
    environment.set("EMPTY", "x");
    EXPECT_EQ(environment.get_non_empty("EMPTY"), "x");
    environment.unset("EMPTY");
    environment.unset("EMPTY");
    EXPECT_EQ(environment.get("EMPTY"), std::nullopt);
}

TEST(Environment, StringsAreWhatExecTakes) {
    const Environment environment({{"B", "x=y"}, {"A", ""}});
    EXPECT_THAT(environment.to_strings(), ElementsAre("A=", "B=x=y"));
}

TEST(Environment, TheProcesssOwnIsACopy) {
    ::setenv("OPGAUGE_TEST_VARIABLE", "a=b", 1);
    auto environment = Environment::of_this_process();
    ::unsetenv("OPGAUGE_TEST_VARIABLE");
    EXPECT_EQ(environment.get("OPGAUGE_TEST_VARIABLE"), "a=b");
    environment.set("OPGAUGE_TEST_VARIABLE", "c");
    EXPECT_EQ(std::getenv("OPGAUGE_TEST_VARIABLE"), nullptr);
}

}  // namespace
}  // namespace opgauge
