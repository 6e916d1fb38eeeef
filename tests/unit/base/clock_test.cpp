// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/clock.h"

#include "tests/support/fake_clock.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using namespace std::chrono_literals;

TEST(Clock, WallTimeIsWrittenInUtc) {
    const std::chrono::system_clock::time_point time{1'764'597'909s};
    EXPECT_EQ(utc_text(time), "2025-12-01T14:05:09Z");
    EXPECT_EQ(utc_text(time + 999ms), "2025-12-01T14:05:09Z");
    EXPECT_EQ(utc_file_stamp(time), "20251201T140509Z");
    EXPECT_EQ(utc_text(std::chrono::system_clock::time_point{}), "1970-01-01T00:00:00Z");
}

TEST(Clock, ADurationHasTheUnitThatAPersonWouldChoose) {
    EXPECT_EQ(duration_text(0s), "0 ms");
    EXPECT_EQ(duration_text(850ms), "850 ms");
    EXPECT_EQ(duration_text(12300ms), "12.3 s");
    EXPECT_EQ(duration_text(245s), "4 min 05 s");
    EXPECT_EQ(duration_text(7380s), "2 h 03 min");
    EXPECT_EQ(duration_text(100h), "100 h 00 min");
}

TEST(Clock, RoundingNeverShowsAFullUnitOfTheSmallerKind) {
    EXPECT_EQ(duration_text(999'400us), "999 ms");
    EXPECT_EQ(duration_text(999'600us), "1.0 s");
    EXPECT_EQ(duration_text(59'940ms), "59.9 s");
    EXPECT_EQ(duration_text(59'960ms), "1 min 00 s");
    EXPECT_EQ(duration_text(3599'600ms), "1 h 00 min");
}

TEST(Clock, TheSystemsClockMovesForward) {
    const SystemClock clock;
    const auto first = clock.now();
    EXPECT_GE(clock.now(), first);
    EXPECT_GT(clock.wall_time(), std::chrono::system_clock::time_point{1'700'000'000s});
}

TEST(Clock, TheFakeOneStandsStillUntilItIsMoved) {
    testing::FakeClock clock;
    const auto first = clock.now();
    EXPECT_EQ(clock.now(), first);
    clock.advance(3s);
    EXPECT_EQ(clock.now() - first, 3s);
}

}  // namespace
}  // namespace opgauge
