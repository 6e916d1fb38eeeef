// SPDX-License-Identifier: Apache-2.0
// Readings of one device through stand-in libraries, and the fake backend's script.
#include "opgauge/device/telemetry.h"

#include "tests/support/temp_dir.h"
#include "tests/unit/device/stand_ins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

using testing::bare_environment;
using ::testing::ElementsAre;
using testing::from_library;
using ::testing::IsEmpty;
using testing::kLibraries;
using testing::Libraries;

Environment environment_of(const char* folder) {
    Environment environment = bare_environment();
    environment.set("OPGAUGE_LIBRARY_PATH", kLibraries + folder);
    return environment;
}

Result<std::unique_ptr<Telemetry>> open(const std::string& backend, std::size_t index,
                                        const std::string& pretend) {
    const auto found = from_library(backend, Libraries::now, pretend);
    return (*find_backend(backend))->open_telemetry(found.devices.at(index), environment_of("now"));
}

void pretend(const char* what) {
    ::setenv("OPGAUGE_FAKE_VENDOR", what, 1);
}

void expect_nothing_known(const DeviceReading& reading) {
    EXPECT_FALSE(reading.sm_clock_mhz);
    EXPECT_FALSE(reading.memory_clock_mhz);
    EXPECT_FALSE(reading.max_sm_clock_mhz);
    EXPECT_FALSE(reading.power_watts);
    EXPECT_FALSE(reading.temperature_celsius);
    EXPECT_FALSE(reading.throttle_reasons_known);
}

TEST(CudaTelemetry, ReadsTheDevicesFacts) {
    const auto telemetry = open("cuda", 1, "devices=2,clock=1410");
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    const auto reading = (*telemetry)->read();
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_EQ(reading->sm_clock_mhz, 1410.0);
    EXPECT_EQ(reading->memory_clock_mhz, 3201.0);
    EXPECT_EQ(reading->max_sm_clock_mhz, 1995.0);
    EXPECT_EQ(reading->power_watts, 350.5);
    EXPECT_EQ(reading->temperature_celsius, 43.0);
    EXPECT_TRUE(reading->throttle_reasons_known);
    EXPECT_THAT(reading->throttle_reasons, IsEmpty()) << "idle is no reason";
    const auto violations = (*telemetry)->violations();
    ASSERT_TRUE(violations);
    EXPECT_EQ(violations->power_ns, 1000U);
    EXPECT_EQ(violations->thermal_ns, 2000U);
    EXPECT_EQ(violations->board_limit_ns, 4000U);
    EXPECT_FALSE(violations->reliability_ns) << "not supported there";
}

TEST(CudaTelemetry, ReadsTheDevicesHealth) {
    const auto telemetry = open("cuda", 0, "ecc=3,used_mib=2048,pending=1");
    ASSERT_TRUE(telemetry);
    const auto health = (*telemetry)->health();
    ASSERT_TRUE(health) << health.error().message;
    EXPECT_EQ(health->uncorrected_errors, 3U);
    EXPECT_EQ(health->memory_used_bytes, std::uint64_t{2048} << 20U);
    EXPECT_EQ(health->repair_pending, true);
    EXPECT_EQ(health->repair_failed, false);
    pretend("unrepaired=1");
    EXPECT_EQ((*telemetry)->health()->repair_failed, true);
}

TEST(CudaTelemetry, AnOlderDeviceTellsOnlyOfRetiredPages) {
    const auto telemetry = open("cuda", 0, "rows=0,pending=1");
    ASSERT_TRUE(telemetry);
    const auto health = (*telemetry)->health();
    ASSERT_TRUE(health);
    EXPECT_EQ(health->repair_pending, true);
    EXPECT_FALSE(health->repair_failed);
}

TEST(CudaTelemetry, TheHealthOfALostDeviceIsAnError) {
    const auto telemetry = open("cuda", 0, "");
    ASSERT_TRUE(telemetry);
    pretend("dead=15");
    const auto health = (*telemetry)->health();
    ASSERT_FALSE(health);
    EXPECT_EQ(health.error().kind, ErrorKind::environment);
}

TEST(CudaTelemetry, NamesOnlyWhatSlowsDown) {
    const auto telemetry = open("cuda", 0, "reasons=511");
    ASSERT_TRUE(telemetry);
    EXPECT_THAT((*telemetry)->read()->throttle_reasons,
                ElementsAre("sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal", "hw_thermal",
                            "hw_power_brake"));
    pretend("reasons=68");
    EXPECT_THAT((*telemetry)->read()->throttle_reasons, ElementsAre("sw_power_cap", "hw_thermal"));
}

TEST(CudaTelemetry, TheGpuAnswersWhatItsInstanceRefuses) {
    const auto telemetry = open("cuda", 0, "mig=1,refuses=1");
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    const auto reading = (*telemetry)->read();
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_EQ(reading->sm_clock_mhz, 1980.0);
    EXPECT_EQ(reading->power_watts, 350.5);
}

TEST(CudaTelemetry, ALostDeviceIsAnError) {
    const auto telemetry = open("cuda", 1, "devices=2");
    ASSERT_TRUE(telemetry);
    pretend("devices=2,dead=15");
    const auto reading = (*telemetry)->read();
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().kind, ErrorKind::environment);
    EXPECT_EQ(reading.error().message,
              "NVML does not read device GPU-00000001: GPU is lost (NVML 15); check it with "
              "`nvidia-smi`");
    pretend("devices=2,dead=999");
    EXPECT_FALSE((*telemetry)->read()) << "a library that answers nothing at all";
    pretend("devices=2,dead=3");
    const auto unsupported = (*telemetry)->read();
    ASSERT_TRUE(unsupported) << unsupported.error().message;
    EXPECT_FALSE(unsupported->sm_clock_mhz);
}

TEST(CudaTelemetry, ADeviceThatIsGoneIsNotOpened) {
    const auto found = from_library("cuda", Libraries::now, "devices=2");
    pretend("devices=2,broken=1");
    const auto telemetry =
        (*find_backend("cuda"))->open_telemetry(found.devices.at(1), environment_of("now"));
    ASSERT_FALSE(telemetry);
    EXPECT_EQ(telemetry.error().message,
              "NVML does not open device GPU-00000001: GPU is lost (NVML 15); see `opgauge "
              "devices`");
}

TEST(CudaTelemetry, ListsOtherProcesses) {
    const auto telemetry = open("cuda", 0, "processes=2");
    ASSERT_TRUE(telemetry);
    const auto processes = (*telemetry)->processes();
    ASSERT_TRUE(processes);
    ASSERT_EQ(processes->size(), 2U);
    EXPECT_EQ((*processes)[0].pid, 100'001);
    EXPECT_EQ((*processes)[0].memory_bytes, 5U);
    EXPECT_FALSE((*processes)[1].memory_bytes);
}

TEST(CudaTelemetry, CompletingAddsThePowerLimit) {
    auto found = from_library("cuda", Libraries::now, "devices=2,mig=1");
    for (auto& device : found.devices) {
        (*find_backend("cuda"))->complete(device, environment_of("now"));
        EXPECT_EQ(device.power_limit_watts, 700.0) << device.token;
    }
    Device known = found.devices[0];
    known.power_limit_watts = 300;
    (*find_backend("cuda"))->complete(known, environment_of("now"));
    EXPECT_EQ(known.power_limit_watts, 300.0);
}

// The facts that every vendor's library tells; each stand-in has the same values.
class EachTelemetry : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, EachTelemetry, ::testing::Values("cuda", "musa", "rocm", "ascend"));

TEST_P(EachTelemetry, ReadsClocksAndTemperature) {
    const auto telemetry = open(GetParam(), 1, "devices=2,clock=1410");
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    const auto reading = (*telemetry)->read();
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_EQ(reading->sm_clock_mhz, 1410.0);
    EXPECT_EQ(reading->memory_clock_mhz, 3201.0);
    EXPECT_EQ(reading->max_sm_clock_mhz, 1995.0);
    EXPECT_EQ(reading->temperature_celsius, 43.0);
    EXPECT_THAT(reading->throttle_reasons, IsEmpty());
    EXPECT_EQ(reading->throttle_reasons_known, GetParam() == std::string("cuda"));
    EXPECT_EQ((*telemetry)->violations().has_value(), GetParam() == std::string("cuda"));
    pretend("devices=2,clock=990");
    EXPECT_EQ((*telemetry)->read()->sm_clock_mhz, 990.0);
}

TEST_P(EachTelemetry, ADeviceThatAnswersNothingIsAnError) {
    const auto telemetry = open(GetParam(), 0, "devices=1");
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    pretend("devices=1,dead=77");
    const auto reading = (*telemetry)->read();
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().kind, ErrorKind::environment);
    EXPECT_NE(reading.error().message.find("does not read device "), std::string::npos);
    EXPECT_NE(reading.error().message.find("77"), std::string::npos) << reading.error().message;
}

TEST(MusaTelemetry, NoPowerIsUnknownAndNotZero) {
    const auto telemetry = open("musa", 0, "");
    ASSERT_TRUE(telemetry);
    EXPECT_EQ((*telemetry)->read()->power_watts, 350.5);
    pretend("milliwatts=0,clock=0");
    const auto reading = (*telemetry)->read();
    EXPECT_FALSE(reading->power_watts);
    EXPECT_FALSE(reading->sm_clock_mhz);
    EXPECT_EQ(reading->temperature_celsius, 43.0);
    pretend("refuses=1");
    expect_nothing_known(*(*telemetry)->read());
}

TEST(AscendTelemetry, ReadsPowerAndProcessesAndKnowsAnAbsentDevice) {
    const auto telemetry = open("ascend", 3, "devices=4,processes=1");
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    EXPECT_EQ((*telemetry)->read()->power_watts, 350.5);
    const auto processes = (*telemetry)->processes();
    ASSERT_TRUE(processes);
    ASSERT_EQ(processes->size(), 1U);
    EXPECT_EQ((*processes)[0].pid, 100'001);
    EXPECT_EQ((*processes)[0].memory_bytes, 5U);
    pretend("devices=4,absent=1");
    EXPECT_EQ((*telemetry)->read().error().message,
              "DCMI does not read device 3: the device does not answer; check it with `npu-smi "
              "info`");
}

TEST(RocmTelemetry, TakesPowerAndWhatTheLibraryLacksFromTheKernel) {
    const testing::TempDir temp;
    Device device;
    device.token = "0";
    device.pci_id = "0000:10:00.0";
    const auto folder = temp.path() / "bus/pci/devices/0000:10:00.0/hwmon/hwmon4";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "freq1_input") << "2100000000\n";
    std::ofstream(folder / "freq2_input") << "900000000\n";
    std::ofstream(folder / "temp1_input") << "51000\n";
    std::ofstream(folder / "power1_average") << "140500000\n";
    Environment environment = bare_environment();
    const Backend& backend = **find_backend("rocm");
    EXPECT_EQ(backend.open_telemetry(device, environment).error().message,
              "no readings of device 0: no library libamd_smi.so, and the kernel has no hwmon "
              "folder for it; see `opgauge devices`");
    environment.set("OPGAUGE_SYSFS", temp.path().string());
    const auto reading = (*backend.open_telemetry(device, environment))->read();
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_DOUBLE_EQ(reading->sm_clock_mhz.value(), 2100.0);
    EXPECT_DOUBLE_EQ(reading->memory_clock_mhz.value(), 900.0);
    EXPECT_DOUBLE_EQ(reading->temperature_celsius.value(), 51.0);
    EXPECT_DOUBLE_EQ(reading->power_watts.value(), 140.5);
    pretend("devices=1,clock=1410");
    environment.set("OPGAUGE_LIBRARY_PATH", kLibraries + "now");
    const auto both = (*backend.open_telemetry(device, environment))->read();
    EXPECT_EQ(both->sm_clock_mhz, 1410.0);
    EXPECT_DOUBLE_EQ(both->power_watts.value(), 140.5);
}

TEST(FakeTelemetry, HandsReadingsOutInOrderAndRepeatsTheLast) {
    Environment environment;
    environment.set("OPGAUGE_FAKE_TELEMETRY",
                    R"([{"sm_clock_mhz": 1000, "throttle_reasons": []},
                        {"error": "GPU is lost"},
                        {"power_watts": 5.5, "throttle_reasons": ["sw_power_cap"],
                         "violations": {"power_ns": 7},
                         "processes": [{"pid": 4711, "name": "x", "memory_bytes": 8}]}])");
    const Backend& backend = **find_backend("fake");
    const auto found = backend.discover(environment);
    const auto telemetry = backend.open_telemetry(found.devices.at(0), environment);
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    EXPECT_THAT(*(*telemetry)->processes(), IsEmpty());
    const auto first = (*telemetry)->read();
    EXPECT_EQ(first->sm_clock_mhz, 1000.0);
    EXPECT_TRUE(first->throttle_reasons_known);
    EXPECT_FALSE((*telemetry)->violations());
    EXPECT_EQ((*telemetry)->read().error().message,
              "the fake backend does not read device FAKE-0000: GPU is lost");
    for (int i = 0; i < 2; ++i) {
        const auto last = (*telemetry)->read();
        ASSERT_TRUE(last);
        EXPECT_EQ(last->power_watts, 5.5);
        EXPECT_THAT(last->throttle_reasons, ElementsAre("sw_power_cap"));
        EXPECT_EQ((*telemetry)->violations()->power_ns, 7U);
    }
    EXPECT_EQ((*telemetry)->processes()->at(0).pid, 4711);
}

TEST(FakeTelemetry, ComesFromAFileAndIsUnknownWithoutOne) {
    const testing::TempDir temp;
    const auto path = temp.path() / "telemetry.json";
    std::ofstream(path) << R"([{"temperature_celsius": 50}])";
    Environment environment;
    const Backend& backend = **find_backend("fake");
    const Device device = backend.discover(environment).devices.at(0);
    expect_nothing_known(*(*backend.open_telemetry(device, environment))->read());
    environment.set("OPGAUGE_FAKE_TELEMETRY", path.string());
    EXPECT_EQ((*backend.open_telemetry(device, environment))->read()->temperature_celsius, 50.0);
    environment.set("OPGAUGE_FAKE_TELEMETRY", "[");
    EXPECT_FALSE(backend.open_telemetry(device, environment));
}

TEST(Telemetry, ABackendWithoutAnyRefuses) {
    const auto telemetry = (*find_backend("cpu"))->open_telemetry(Device{}, Environment{});
    ASSERT_FALSE(telemetry);
    EXPECT_EQ(telemetry.error().kind, ErrorKind::refused);
    EXPECT_EQ(telemetry.error().message, "backend cpu has no telemetry");
}

class BareTelemetry : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, BareTelemetry, ::testing::Values("cuda", "musa", "rocm", "ascend"));

TEST_P(BareTelemetry, MissingFunctionsLeaveFactsUnknown) {
    const auto found = from_library(GetParam(), Libraries::bare, "devices=2");
    const auto telemetry =
        (*find_backend(GetParam()))->open_telemetry(found.devices.at(1), environment_of("bare"));
    ASSERT_TRUE(telemetry) << telemetry.error().message;
    const auto reading = (*telemetry)->read();
    ASSERT_TRUE(reading) << reading.error().message;
    expect_nothing_known(*reading);
    EXPECT_EQ((*telemetry)->processes().error().kind, ErrorKind::refused);
}

}  // namespace
}  // namespace opgauge
