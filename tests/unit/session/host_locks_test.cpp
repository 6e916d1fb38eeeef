// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/host_locks.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace opgauge {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class HostLocksTest : public ::testing::Test {
  protected:
    HostLocksTest() {
        environment_.set("OPGAUGE_LOCKS", (folder_.path() / "locks").string());
        environment_.set("USER", "somebody");
    }
    std::unique_ptr<MeasuringSection> section(Measuring measuring = Measuring::exclusive) {
        auto opened = open_measuring_section(measuring, environment_);
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(*opened);
    }
    Result<DeviceLease> lease(const Device& device, milliseconds wait = milliseconds(0)) {
        return DeviceLease::take(device, "opgauge batch --all", wait, environment_);
    }
    static Device device(const char* uuid) {
        Device device;
        device.uuid = uuid;
        device.token = uuid;
        return device;
    }

    testing::TempDir folder_;
    Environment environment_;
};

TEST_F(HostLocksTest, OneMeasuresAtATime) {
    const auto a = section();
    const auto b = section();
    EXPECT_TRUE(a->try_enter());
    EXPECT_TRUE(a->try_enter()) << "it is inside already";
    EXPECT_FALSE(b->try_enter());
    EXPECT_EQ(a->neighbours(), 0);
    EXPECT_EQ(b->neighbours(), 1);
    a->leave();
    a->leave();
    EXPECT_TRUE(b->try_enter());
    EXPECT_EQ(b->neighbours(), 0);
}

TEST_F(HostLocksTest, InParallelNobodyWaitsAndTheOthersAreCounted) {
    const auto alone = section();
    const auto a = section(Measuring::parallel);
    const auto b = section(Measuring::parallel);
    EXPECT_TRUE(alone->try_enter());
    EXPECT_TRUE(a->try_enter());
    EXPECT_TRUE(b->try_enter());
    EXPECT_EQ(a->neighbours(), 2);
    EXPECT_EQ(alone->neighbours(), 2) << "it sees that it is not alone after all";
    b->leave();
    EXPECT_EQ(a->neighbours(), 1);
}

TEST_F(HostLocksTest, TheEndOfASectionFreesItsPlace) {
    const auto a = section();
    {
        const auto b = section();
        ASSERT_TRUE(b->try_enter());
        EXPECT_FALSE(a->try_enter());
    }
    EXPECT_EQ(a->neighbours(), 0);
    EXPECT_TRUE(a->try_enter());
}

TEST_F(HostLocksTest, ALeasedDeviceIsRefusedNamingTheHolder) {
    const auto first = lease(device("GPU-1"));
    ASSERT_TRUE(first) << first.error().message;
    const auto second = lease(device("GPU-1"), milliseconds(60));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::environment);
    EXPECT_THAT(second.error().message,
                AllOf(HasSubstr("device GPU-1 is leased by pid " + std::to_string(::getpid())),
                      HasSubstr("of somebody, since 20"), HasSubstr(": opgauge batch --all;"),
                      HasSubstr("--wait-lease")));
    EXPECT_TRUE(lease(device("GPU-2"))) << "another device is free";
}

TEST_F(HostLocksTest, AGivenBackDeviceCanBeLeasedAgain) {
    { ASSERT_TRUE(lease(device("GPU-1"))); }
    EXPECT_TRUE(lease(device("GPU-1")));
}

TEST_F(HostLocksTest, WhatADeviceIsCalledNeverLeavesTheFolder) {
    ASSERT_TRUE(lease(device("../../0000:3b:00.0")));
    EXPECT_TRUE(
        std::filesystem::exists(folder_.path() / "locks" / "device-______0000_3b_00_0.lock"));
}

}  // namespace
}  // namespace opgauge
