// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/device_health.h"

#include "tests/support/fake_clock.h"
#include "tests/support/scripted_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeviceHealthTest : public ::testing::Test {
  protected:
    DeviceHealthTest()
        : health_(std::unique_ptr<Telemetry>(std::make_unique<testing::ScriptedTelemetry>(script_)),
                  clock_, std::chrono::milliseconds(0)) {
        script_.health = HealthReading{3, false, false, std::uint64_t{1} << 30U};
        health_.note_before();
    }

    testing::TelemetryScript script_;
    testing::FakeClock clock_;
    DeviceHealth health_;
};

TEST_F(DeviceHealthTest, AWellDeviceIsOk) {
    script_.processes = {{::getpid(), "opgauge", 1}};
    const HealthReport report = health_.look();
    EXPECT_EQ(report.ok, true);
    EXPECT_THAT(report.problems, IsEmpty()) << "old errors are no news";
    EXPECT_THAT(report.warnings, IsEmpty());
    EXPECT_EQ(to_json(report), Json::parse(R"({"ok":true,"problems":[],"warnings":[]})"));
}

TEST_F(DeviceHealthTest, ALostDeviceIsAProblem) {
    script_.reading.reset();
    const HealthReport report = health_.look();
    EXPECT_EQ(report.ok, false);
    EXPECT_THAT(report.problems, ElementsAre("GPU is lost"));
}

TEST_F(DeviceHealthTest, ErrorsThatCameMeanwhileAreAProblem) {
    script_.health->uncorrected_errors = 5;
    EXPECT_THAT(health_.look().problems,
                ElementsAre(HasSubstr("2 uncorrected memory errors came")));
    health_.note_before();
    EXPECT_EQ(health_.look().ok, true) << "the next operator is judged by itself";
}

TEST_F(DeviceHealthTest, MemoryThatCannotBeRepairedIsAProblemAndAPendingRepairAWarning) {
    script_.health->repair_pending = true;
    EXPECT_EQ(health_.look().ok, true);
    EXPECT_THAT(health_.look().warnings, ElementsAre(HasSubstr("waits for a reset")));
    script_.health->repair_failed = true;
    EXPECT_THAT(health_.look().problems, ElementsAre(HasSubstr("cannot be repaired")));
}

TEST_F(DeviceHealthTest, MemoryThatWasNotGivenBackIsAWarning) {
    *script_.health->memory_used_bytes += std::uint64_t{64} << 20U;
    EXPECT_THAT(health_.look().warnings, IsEmpty()) << "so much the driver itself may take";
    *script_.health->memory_used_bytes += std::uint64_t{36} << 20U;
    const HealthReport report = health_.look();
    EXPECT_EQ(report.ok, true);
    EXPECT_THAT(report.warnings,
                ElementsAre("100 MiB of its memory were not given back after the operator ended"));
}

TEST_F(DeviceHealthTest, ForeignProcessesAndHeatAreWarnings) {
    script_.processes = {{1, "other", std::nullopt}, {::getpid(), "opgauge", 1}};
    script_.clock(1200, {"sw_power_cap", "hw_thermal"});
    script_.reading->temperature_celsius = 91;
    EXPECT_THAT(health_.look().warnings,
                ElementsAre("its clocks are held down by hw_thermal at 91 degrees Celsius; let it "
                            "cool",
                            "process 1 (other) uses it too"));
}

TEST(DeviceHealth, ABackendThatTellsNothingLeavesItUnknown) {
    const testing::FakeClock clock;
    DeviceHealth health(fail(ErrorKind::refused, "backend cpu has no telemetry"), clock);
    health.note_before();
    const HealthReport report = health.look();
    EXPECT_FALSE(report.ok);
    EXPECT_EQ(
        to_json(report),
        Json::parse(
            R"({"ok":null,"problems":[],"warnings":[],"unknown":"backend cpu has no telemetry"})"));
}

TEST(DeviceHealth, ADeviceThatCannotBeOpenedIsAProblem) {
    const testing::FakeClock clock;
    DeviceHealth health(fail(ErrorKind::environment, "GPU is lost"), clock);
    const HealthReport report = health.look();
    EXPECT_EQ(report.ok, false);
    EXPECT_THAT(report.problems, ElementsAre("GPU is lost"));
}

TEST(DeviceHealth, AReadingWithoutHealthIsEnough) {
    testing::TelemetryScript script;
    const testing::FakeClock clock;
    DeviceHealth health(
        std::unique_ptr<Telemetry>(std::make_unique<testing::ScriptedTelemetry>(script)), clock);
    health.note_before();
    EXPECT_EQ(health.look().ok, true);
}

}  // namespace
}  // namespace opgauge
