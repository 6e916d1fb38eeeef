// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/time_account.h"

#include "tests/support/fake_clock.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using std::chrono::seconds;

class TimeAccountTest : public ::testing::Test {
  protected:
    static TimeParts of(TimePart part, double value) {
        TimeParts parts;
        parts[part] = value;
        return parts;
    }
    testing::FakeClock clock_;
    TimeAccount account_{clock_, TimePart::start};
};

TEST_F(TimeAccountTest, EachSecondBelongsToThePartThatItIsIn) {
    clock_.advance(seconds(2));
    account_.turn_to(TimePart::measure);
    clock_.advance(seconds(3));
    account_.turn_to(TimePart::end);
    clock_.advance(seconds(5));
    const TimeParts parts = account_.parts();
    EXPECT_EQ(parts[TimePart::start], 2);
    EXPECT_EQ(parts[TimePart::measure], 3);
    EXPECT_EQ(parts[TimePart::end], 5);
    EXPECT_EQ(parts.sum(), 10);
    EXPECT_EQ(account_.parts().sum(), 10);  // looking changes nothing
}

TEST_F(TimeAccountTest, WhatWasSeenFromNearerIsTakenFromThePart) {
    account_.turn_to(TimePart::first_calls);
    clock_.advance(seconds(10));
    account_.take(of(TimePart::compile, 7));
    EXPECT_EQ(account_.parts()[TimePart::first_calls], 3);
    EXPECT_EQ(account_.parts()[TimePart::compile], 7);
}

TEST_F(TimeAccountTest, NoMoreIsTakenThanHasGoneBySinceTheLast) {
    account_.turn_to(TimePart::first_calls);
    clock_.advance(seconds(10));
    account_.take(of(TimePart::compile, 1));
    clock_.advance(seconds(4));
    TimeParts more = of(TimePart::compile, 30);
    more[TimePart::tune] = 10;
    account_.take(more);
    const TimeParts parts = account_.parts();
    EXPECT_EQ(parts[TimePart::first_calls], 9);
    EXPECT_EQ(parts[TimePart::compile], 1 + 3);
    EXPECT_EQ(parts[TimePart::tune], 1);
    EXPECT_EQ(parts.sum(), 14);
}

TEST_F(TimeAccountTest, WhatWentByBeforeThePartBeganIsNotItsOwn) {
    clock_.advance(seconds(10));
    account_.turn_to(TimePart::first_calls);
    clock_.advance(seconds(1));
    account_.take(of(TimePart::tune, 5));
    EXPECT_EQ(account_.parts()[TimePart::start], 10);
    EXPECT_EQ(account_.parts()[TimePart::tune], 1);
}

}  // namespace
}  // namespace opgauge
