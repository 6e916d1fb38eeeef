// SPDX-License-Identifier: Apache-2.0
// Enumeration through stand-in libraries (tests/fake_vendor); the choice of a backend.
#include "tests/support/temp_dir.h"
#include "tests/unit/device/stand_ins.h"

#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

using testing::from_library;
using testing::kLibraries;
using testing::Libraries;
using testing::reasons;

class EachVendor : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, EachVendor, ::testing::Values("cuda", "musa", "rocm", "ascend"));

TEST_P(EachVendor, ListsZeroOneAndEightDevices) {
    for (const int count : {1, 8}) {
        const auto found =
            from_library(GetParam(), Libraries::now, "devices=" + std::to_string(count));
        ASSERT_EQ(found.devices.size(), static_cast<std::size_t>(count)) << reasons(found);
        for (int i = 0; i < count; ++i) {
            const Device& device = found.devices[static_cast<std::size_t>(i)];
            EXPECT_EQ(device.index, i);
            EXPECT_EQ(device.backend, GetParam());
            EXPECT_EQ(device.health, Health::ok);
        }
    }
    const auto none = from_library(GetParam(), Libraries::now, "devices=0");
    EXPECT_TRUE(none.devices.empty());
    EXPECT_NE(reasons(none).find("has no device"), std::string::npos) << reasons(none);
}

TEST_P(EachVendor, AnAbsentLibraryAndToolAreTwoReasons) {
    const auto found = from_library(GetParam(), Libraries::absent, "");
    EXPECT_TRUE(found.devices.empty());
    EXPECT_NE(reasons(found).find("no library lib"), std::string::npos) << reasons(found);
    EXPECT_NE(reasons(found).find(" on PATH"), std::string::npos) << reasons(found);
}

TEST_P(EachVendor, ALibraryThatLacksARequiredSymbolIsTooOld) {
    const auto found = from_library(GetParam(), Libraries::old, "devices=2");
    EXPECT_TRUE(found.devices.empty());
    EXPECT_NE(reasons(found).find("is too old: it lacks "), std::string::npos) << reasons(found);
}

TEST(CudaDiscovery, InitFailuresAreToldInTheLibrarysWords) {
    const auto found = from_library("cuda", Libraries::now, "fail_init=18");
    EXPECT_EQ(found.reasons.at(0), "nvmlInit failed: Driver/library version mismatch (NVML 18)");
    const auto ascend = from_library("ascend", Libraries::now, "fail_init=-8005");
    EXPECT_EQ(ascend.reasons.at(0),
              "dcmi_init failed: no driver, or no device in this container (-8005)");
    const auto musa = from_library("musa", Libraries::now, "fail_init=1");
    EXPECT_EQ(musa.reasons.at(0), "mtmlLibraryInit failed: Driver not loaded (MTML 1)");
}

TEST(CudaDiscovery, FactsComeFromTheLibrary) {
    const auto found = from_library("cuda", Libraries::now, "devices=2");
    EXPECT_EQ(found.driver, "580.159.04");
    EXPECT_EQ(found.runtime, "CUDA 13.0");
    const Device& device = found.devices.at(1);
    EXPECT_EQ(device.name, "NVIDIA Stand-in");
    EXPECT_EQ(device.token, "GPU-00000001");
    EXPECT_EQ(device.pci_id, "0000:11:00.0");
    EXPECT_EQ(device.memory_total_bytes, 16ULL << 30U);
    EXPECT_EQ(device.memory_free_bytes, 15ULL << 30U);
    EXPECT_EQ(device.memory_used_bytes, 1ULL << 30U);
    EXPECT_FALSE(device.power_limit_watts) << "too slow to be asked of every device";
    EXPECT_EQ(device.compute_capability, 90);
}

TEST(CudaDiscovery, OneBrokenDeviceDoesNotHideTheOthers) {
    const auto found = from_library("cuda", Libraries::now, "devices=3,broken=1");
    ASSERT_EQ(found.devices.size(), 3U);
    EXPECT_EQ(found.devices[0].health, Health::ok);
    EXPECT_EQ(found.devices[1].health, Health::unusable);
    EXPECT_EQ(found.devices[1].health_detail, "GPU is lost (NVML 15)");
    EXPECT_EQ(found.devices[2].index, 2);
}

TEST(CudaDiscovery, InstancesStandInTheirGpusPlace) {
    const auto found = from_library("cuda", Libraries::now, "devices=2,mig=2");
    ASSERT_EQ(found.devices.size(), 3U);
    EXPECT_EQ(found.devices[0].token, "MIG-00000000");
    EXPECT_EQ(found.devices[0].partition, "MIG 1g.5gb");
    EXPECT_EQ(found.devices[1].token, "MIG-00000001");
    EXPECT_EQ(found.devices[2].token, "GPU-00000001");
    EXPECT_FALSE(found.devices[2].partition);
}

TEST(AscendDiscovery, ACriticalAlarmMakesADeviceUnusable) {
    const auto found = from_library("ascend", Libraries::now, "devices=4,broken=2");
    ASSERT_EQ(found.devices.size(), 4U);
    EXPECT_EQ(found.devices[2].health, Health::unusable);
    EXPECT_EQ(found.devices[3].name, "Ascend910B3");
    EXPECT_EQ(found.driver, "25.5.2");
}

TEST(RocmDiscovery, FallsBackToTheOlderLibrary) {
    const testing::TempDir temp;
    std::filesystem::create_symlink(kLibraries + "now/librocm_smi64.so",
                                    temp.path() / "librocm_smi64.so");
    ::setenv("OPGAUGE_FAKE_VENDOR", "devices=2", 1);
    Environment environment;
    environment.set("OPGAUGE_LIBRARY_PATH", temp.path().string());
    const auto found = (*find_backend("rocm"))->discover(environment);
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_EQ(found.devices[1].name, "AMD Stand-in");
    EXPECT_EQ(found.devices[1].uuid, "GPU-050e0ba3b02c8e71");
}

TEST(PciPresence, ACardWithoutSoftwareIsNamed) {
    const testing::TempDir temp;
    const auto add = [&](const std::string& address, const char* vendor, const char* kind) {
        const auto folder = temp.path() / "bus/pci/devices" / address;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "vendor") << vendor << "\n";
        std::ofstream(folder / "class") << kind << "\n";
    };
    add("0000:16:00.0", "0x10de", "0x030000");
    add("0000:16:00.1", "0x10de", "0x040300");  // its audio function
    Environment environment;
    environment.set("OPGAUGE_SYSFS", temp.path().string());
    environment.set("OPGAUGE_LIBRARY_PATH", "/nowhere");
    environment.set("PATH", "/nowhere");
    const auto found = (*find_backend("cuda"))->discover(environment);
    EXPECT_EQ(found.reasons.back(),
              "a device with the PCI vendor id 10de is on the bus (0000:16:00.0), but no driver "
              "software answers for it");
}

TEST(ChooseBackend, AutoTakesTheOnlyBackendWithDevicesAndRefusesSeveral) {
    ::setenv("OPGAUGE_FAKE_VENDOR", "devices=1", 1);
    const testing::TempDir temp;
    Environment environment;
    environment.set("OPGAUGE_SYSFS", "/nowhere");
    environment.set("PATH", "/nowhere");
    environment.set("OPGAUGE_LIBRARY_PATH", temp.path().string());
    const auto none = choose_backend("", environment, WithoutAccelerator::error);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::environment);
    EXPECT_EQ((*choose_backend("", environment, WithoutAccelerator::use_cpu)).backend->name(),
              "cpu");
    std::filesystem::create_symlink(kLibraries + "now/libmtml.so", temp.path() / "libmtml.so");
    const auto one = choose_backend("auto", environment, WithoutAccelerator::error);
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->backend->name(), "musa");
    EXPECT_EQ(one->why, "auto: the only backend with devices");
    std::filesystem::create_symlink(kLibraries + "now/libdcmi.so", temp.path() / "libdcmi.so");
    const auto two = choose_backend("", environment, WithoutAccelerator::error);
    ASSERT_FALSE(two);
    EXPECT_EQ(two.error().message,
              "several backends have devices: musa (1 x MTT Stand-in), ascend (1 x Ascend910B3); "
              "choose one with --backend or ZL_BACKEND");
    environment.set("ZL_BACKEND", "npu");
    EXPECT_EQ((*choose_backend("", environment, WithoutAccelerator::error)).backend->name(),
              "ascend");
    EXPECT_EQ((*choose_backend("mt", environment, WithoutAccelerator::error)).why, "--backend mt");
}

}  // namespace
}  // namespace opgauge
