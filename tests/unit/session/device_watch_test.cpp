// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/device_watch.h"

#include "opgauge/base/process.h"

#include "tests/support/fake_clock.h"
#include "tests/support/scripted_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeviceWatchTest : public ::testing::Test {
  protected:
    DeviceWatch watch(Heat heat = Heat::burst) {
        script_.reading->max_sm_clock_mhz = 1980;
        return {std::make_unique<testing::ScriptedTelemetry>(script_), heat, clock_};
    }
    static BurstVerdict one_burst(DeviceWatch& watch) {
        Burst burst;
        return one_burst(watch, burst);
    }
    static BurstVerdict one_burst(DeviceWatch& watch, Burst& burst) {
        watch.begin_burst();
        watch.tick();
        return watch.end_burst(burst);
    }

    testing::TelemetryScript script_;
    testing::FakeClock clock_;
};

TEST_F(DeviceWatchTest, AReasonAtFullClocksKeepsTheBurst) {
    DeviceWatch watched = watch();
    watched.begin_side();
    for (const double mhz : {1980.0, 1950.0}) {
        script_.clock(mhz, {"sw_power_cap"});
        const BurstVerdict verdict = one_burst(watched);
        EXPECT_TRUE(verdict.keep) << mhz;
        EXPECT_EQ(verdict.cool_down_s, 0);
    }
    EXPECT_THAT(watched.throttled(), IsEmpty());
}

TEST_F(DeviceWatchTest, ALowClockWithoutAReasonKeepsTheBurst) {
    DeviceWatch watched = watch();
    watched.begin_side();
    script_.clock(1200);
    EXPECT_TRUE(one_burst(watched).keep);
    EXPECT_THAT(watched.throttled(), IsEmpty());
}

TEST_F(DeviceWatchTest, ASlowBurstIsDroppedThreeTimesASideThenKeptAndNamed) {
    DeviceWatch watched = watch();
    watched.begin_side();
    script_.clock(1200.4, {"sw_power_cap"});
    for (int i = 0; i < 3; ++i) {
        const BurstVerdict verdict = one_burst(watched);
        EXPECT_FALSE(verdict.keep) << i;
        EXPECT_DOUBLE_EQ(verdict.cool_down_s, 0.2);
        EXPECT_THAT(watched.throttled(), IsEmpty());
    }
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(one_burst(watched).keep);
        EXPECT_THAT(watched.throttled(), ElementsAre("sw_power_cap@1200MHz"));
    }
    watched.begin_side();
    EXPECT_THAT(watched.throttled(), IsEmpty());
}

TEST_F(DeviceWatchTest, EachReasonIsNamedOnce) {
    DeviceWatch watched = watch();
    watched.begin_side();
    script_.clock(1200, {"sw_power_cap"});
    for (int i = 0; i < 4; ++i) one_burst(watched);
    script_.clock(1100, {"sw_power_cap", "hw_thermal"});
    one_burst(watched);
    EXPECT_THAT(watched.throttled(), ElementsAre("sw_power_cap@1200MHz", "hw_thermal@1100MHz"));
}

// A card stuck at 59 % of its clock, whatever it rests: three tries in the run, no more.
TEST_F(DeviceWatchTest, ACardThatDoesNotRecoverIsTakenAsItIs) {
    DeviceWatch watched = watch();
    script_.clock(1170, {"hw_slowdown"});
    int dropped = 0;
    for (int side = 0; side < 20; ++side) {
        watched.begin_side();
        int tries = 1;
        while (!one_burst(watched).keep) ++tries;
        ASSERT_LE(tries, 4);
        dropped += tries - 1;
        EXPECT_THAT(watched.throttled(), ElementsAre("hw_slowdown@1170MHz"));
    }
    EXPECT_EQ(dropped, 3);
}

TEST_F(DeviceWatchTest, ARestThatHelpsIsNotVain) {
    DeviceWatch watched = watch();
    for (int side = 0; side < 10; ++side) {
        watched.begin_side();
        script_.clock(1200, {"sw_power_cap"});
        EXPECT_FALSE(one_burst(watched).keep) << side;
        script_.clock(1980);
        EXPECT_TRUE(one_burst(watched).keep) << side;
        EXPECT_THAT(watched.throttled(), IsEmpty());
    }
}

TEST_F(DeviceWatchTest, WithoutAMaximumTheHighestClockSeenIsFull) {
    DeviceWatch watched = watch();
    script_.reading->max_sm_clock_mhz.reset();
    watched.begin_side();
    script_.clock(1200, {"sw_power_cap"});
    EXPECT_TRUE(one_burst(watched).keep);
    script_.clock(1980, {"sw_power_cap"});
    EXPECT_TRUE(one_burst(watched).keep);
    script_.clock(1200, {"sw_power_cap"});
    EXPECT_FALSE(one_burst(watched).keep);
}

TEST_F(DeviceWatchTest, ABurstHasTheMedianClockTheHighestPowerAndEveryReason) {
    DeviceWatch watched = watch();
    watched.begin_side();
    watched.begin_burst();
    EXPECT_TRUE(watched.in_burst());
    const double clocks[] = {1980, 1960, 1800};
    for (int i = 0; i < 3; ++i) {
        script_.clock(clocks[i], {i == 1 ? "sw_power_cap" : "sync_boost"});
        script_.reading->power_watts = i == 1 ? 700 : 600;
        script_.reading->temperature_celsius = 40 + i;
        watched.tick();
    }
    Burst burst;
    burst.samples = 17;
    EXPECT_TRUE(watched.end_burst(burst).keep);
    EXPECT_FALSE(watched.in_burst());
    EXPECT_EQ(burst.samples, 17U);
    EXPECT_EQ(burst.sm_clock_mhz, 1960);
    EXPECT_EQ(burst.power_watts, 700);
    EXPECT_EQ(burst.temperature_celsius, 42);
    EXPECT_THAT(burst.throttle_reasons, ElementsAre("sync_boost", "sw_power_cap"));
}

TEST_F(DeviceWatchTest, ABurstWithoutATickIsReadAtItsEnd) {
    DeviceWatch watched = watch();
    script_.clock(1755);
    watched.begin_side();
    watched.begin_burst();
    Burst burst;
    watched.end_burst(burst);
    EXPECT_EQ(burst.sm_clock_mhz, 1755);
}

TEST_F(DeviceWatchTest, ADeviceThatCannotBeReadAndNoTelemetryKeepEverything) {
    DeviceWatch lost = watch();
    script_.reading.reset();
    DeviceWatch blind(nullptr, Heat::burst, clock_);
    for (DeviceWatch* watched : {&lost, &blind}) {
        watched->note_neighbours();
        watched->begin_side();
        Burst burst;
        burst.samples = 3;
        EXPECT_TRUE(one_burst(*watched, burst).keep);
        EXPECT_EQ(burst.samples, 3U);
        EXPECT_FALSE(burst.sm_clock_mhz);
        EXPECT_FALSE(watched->others(1));
    }
}

TEST_F(DeviceWatchTest, SustainedDropsTheFirstSecondAndNeverRests) {
    DeviceWatch watched = watch(Heat::sustained);
    script_.clock(1200, {"sw_power_cap"});
    watched.begin_side();
    for (const bool keep : {false, false, true, true}) {
        clock_.advance(std::chrono::milliseconds(400));
        const BurstVerdict verdict = one_burst(watched);
        EXPECT_EQ(verdict.keep, keep);
        EXPECT_EQ(verdict.cool_down_s, 0);
    }
    EXPECT_THAT(watched.throttled(), IsEmpty());
    watched.begin_side();
    EXPECT_FALSE(one_burst(watched).keep);
}

std::vector<long long> pids_of(const std::optional<std::vector<DeviceProcess>>& processes) {
    std::vector<long long> pids;
    if (!processes) return {-1};
    for (const auto& process : *processes) pids.push_back(process.pid);
    return pids;
}

TEST_F(DeviceWatchTest, TheChildAndItsDescendantsAreNoOthers) {
    const SpawnOptions options{{"/bin/sleep", "1000"}, {}, "", -1, -1, {}};
    const auto grandchild = spawn(options);
    ASSERT_TRUE(grandchild) << grandchild.error().message;
    DeviceWatch watched = watch();
    const long long child = ::getpid();
    script_.processes = std::vector<DeviceProcess>{
        {child, "python", {}}, {grandchild->pid, "python", {}}, {1, "init", {}}};
    EXPECT_THAT(pids_of(watched.others(child)), ElementsAre(1));
    EXPECT_THAT(pids_of(watched.others(grandchild->pid)), ElementsAre(child, 1));
    ::kill(grandchild->pid, SIGKILL);
    ::waitpid(grandchild->pid, nullptr, 0);
    ::close(grandchild->pidfd);
}

constexpr long long kHostPid = 9'000'000'001;  // no such process here
constexpr long long kNeighbour = 9'000'000'002;

TEST_F(DeviceWatchTest, ANeighbourThatWasThereBeforeIsAnother) {
    DeviceWatch watched = watch();
    script_.processes = std::vector<DeviceProcess>{{kNeighbour, "", {}}};
    watched.note_neighbours();
    EXPECT_THAT(pids_of(watched.others(::getpid())), ElementsAre(kNeighbour));
}

// In a container the driver numbers processes as the host does.
TEST_F(DeviceWatchTest, OneUnknownProcessThatCameAfterIsTheChild) {
    DeviceWatch watched = watch();
    script_.processes = std::vector<DeviceProcess>{{kNeighbour, "", {}}};
    watched.note_neighbours();
    script_.processes->push_back({kHostPid, "", {}});
    EXPECT_THAT(pids_of(watched.others(::getpid())), ElementsAre(kNeighbour));
    script_.processes->push_back({kHostPid + 5, "", {}});
    EXPECT_THAT(pids_of(watched.others(::getpid())), ElementsAre(kNeighbour, kHostPid + 5));
}

TEST_F(DeviceWatchTest, AProcessWithANameOrBesideTheChildIsNotTakenForIt) {
    DeviceWatch watched = watch();
    script_.processes = std::vector<DeviceProcess>{{kHostPid, "train", {}}};
    EXPECT_THAT(pids_of(watched.others(::getpid())), ElementsAre(kHostPid));
    script_.processes = std::vector<DeviceProcess>{{::getpid(), "", {}}, {kHostPid, "", {}}};
    EXPECT_THAT(pids_of(watched.others(::getpid())), ElementsAre(kHostPid));
    script_.processes->clear();
    EXPECT_THAT(pids_of(watched.others(::getpid())), IsEmpty());
}

}  // namespace
}  // namespace opgauge
