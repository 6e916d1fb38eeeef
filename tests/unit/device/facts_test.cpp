// SPDX-License-Identifier: Apache-2.0
// What each vendor's library tells about a device, and what it leaves unknown.
#include "tests/support/temp_dir.h"
#include "tests/unit/device/stand_ins.h"

#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

using testing::bare_environment;
using testing::from_library;
using testing::Libraries;
using testing::reasons;

constexpr std::uint64_t kGibibyte = 1ULL << 30U;

class BareLibrary : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, BareLibrary, ::testing::Values("cuda", "musa", "rocm", "ascend"));

TEST_P(BareLibrary, WithoutOptionalSymbolsListsDevicesWithUnknownFacts) {
    const auto found = from_library(GetParam(), Libraries::bare, "devices=2");
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_FALSE(found.driver);
    EXPECT_FALSE(found.runtime);
    const Device& device = found.devices[1];
    EXPECT_EQ(device.index, 1);
    EXPECT_FALSE(device.name.empty());
    EXPECT_FALSE(device.memory_total_bytes);
    EXPECT_FALSE(device.memory_free_bytes);
    EXPECT_FALSE(device.memory_used_bytes);
    EXPECT_FALSE(device.power_limit_watts);
    EXPECT_FALSE(device.compute_capability);
    EXPECT_FALSE(device.partition);
    EXPECT_FALSE(device.processes_known);
    EXPECT_TRUE(found.reasons.empty()) << reasons(found);
}

TEST_P(BareLibrary, AnInitFailureWithoutErrorTextsKeepsItsCode) {
    const auto found = from_library(GetParam(), Libraries::bare, "fail_init=77");
    EXPECT_TRUE(found.devices.empty());
    EXPECT_NE(found.reasons.at(0).find("77"), std::string::npos) << reasons(found);
}

// The library of rocm has no function that counts.
TEST(Discovery, ACountThatFailsIsToldAndIsNotZeroDevices) {
    for (const char* backend : {"cuda", "musa", "ascend"}) {
        const auto found = from_library(backend, Libraries::now, "devices=2,fail_count=4");
        EXPECT_TRUE(found.devices.empty());
        EXPECT_NE(reasons(found).find(" cannot "), std::string::npos) << reasons(found);
        EXPECT_EQ(reasons(found).find("has no device"), std::string::npos) << reasons(found);
    }
}

TEST(CudaFacts, OtherProcessesAreListedWithoutThisOne) {
    const auto none = from_library("cuda", Libraries::now, "devices=1");
    EXPECT_TRUE(none.devices.at(0).processes_known);
    EXPECT_TRUE(none.devices[0].processes.empty());
    const auto some = from_library("cuda", Libraries::now, "devices=1,processes=2");
    ASSERT_EQ(some.devices.at(0).processes.size(), 2U);
    EXPECT_EQ(some.devices[0].processes[0].pid, 100'001);
    EXPECT_EQ(some.devices[0].processes[0].memory_bytes, 5U);
    EXPECT_FALSE(some.devices[0].processes[1].memory_bytes) << "all bits set is unknown";
}

TEST(CudaFacts, MoreProcessesThanTheFirstBufferHoldsAreAllListed) {
    const auto found = from_library("cuda", Libraries::now, "devices=1,processes=100");
    ASSERT_EQ(found.devices.at(0).processes.size(), 100U);
    EXPECT_EQ(found.devices[0].processes.back().pid, 100'100);
}

TEST(CudaFacts, ADeviceWhoseHandleIsGoodAndThatIsLostIsUnusable) {
    const auto found = from_library("cuda", Libraries::now, "devices=2,lost=0");
    ASSERT_EQ(found.devices.size(), 2U);
    EXPECT_EQ(found.devices[0].name, "unknown");
    EXPECT_EQ(found.devices[0].health, Health::unusable);
    EXPECT_EQ(found.devices[0].health_detail, "GPU is lost (NVML 15)");
    EXPECT_EQ(found.devices[1].health, Health::ok);
}

TEST(CudaFacts, AProhibitedComputeModeMakesADeviceUnusable) {
    const auto found = from_library("cuda", Libraries::now, "devices=1,mode=2");
    EXPECT_EQ(found.devices.at(0).health, Health::unusable);
    EXPECT_EQ(found.devices[0].health_detail, "its compute mode is Prohibited");
    const auto exclusive = from_library("cuda", Libraries::now, "devices=1,mode=3");
    EXPECT_EQ(exclusive.devices.at(0).health, Health::ok);
}

TEST(CudaFacts, AGpuInMigModeWithoutInstancesIsNoDeviceAndIsNamed) {
    const auto found = from_library("cuda", Libraries::now, "devices=2,mig_mode=1");
    ASSERT_EQ(found.devices.size(), 1U);
    EXPECT_EQ(found.devices[0].index, 1);
    EXPECT_EQ(reasons(found),
              "device 0 (NVIDIA Stand-in) is in MIG mode and has no instance: create one or end "
              "the mode");
}

TEST(CudaFacts, AnInstanceHasItsGpusPlace) {
    const auto found = from_library("cuda", Libraries::now, "devices=1,mig=1");
    ASSERT_EQ(found.devices.size(), 1U);
    EXPECT_EQ(found.devices[0].pci_id, "0000:10:00.0");
    EXPECT_EQ(found.devices[0].compute_capability, 90);
    EXPECT_EQ(found.devices[0].index, 0);
}

TEST(MusaFacts, ComeFromTheLibrary) {
    const auto found = from_library("musa", Libraries::now, "devices=2");
    EXPECT_EQ(found.driver, "3.3.5-server");
    const Device& device = found.devices.at(1);
    EXPECT_EQ(device.name, "MTT Stand-in");
    EXPECT_EQ(device.token, "1") << "the runtime is documented with indices only";
    EXPECT_EQ(device.uuid, "musa-1");
    EXPECT_EQ(device.pci_id, "0000:21:00.0");
    EXPECT_EQ(device.memory_total_bytes, 80 * kGibibyte);
    EXPECT_EQ(device.memory_free_bytes, 79 * kGibibyte);
    EXPECT_FALSE(device.processes_known);
}

TEST(MusaFacts, MoreMemoryInUseThanThereIsLeavesNoneFree) {
    const auto found = from_library("musa", Libraries::now, "devices=1,used_mib=90000");
    EXPECT_EQ(found.devices.at(0).memory_free_bytes, 0U);
}

TEST(MusaFacts, OneBrokenDeviceDoesNotHideTheOthers) {
    const auto found = from_library("musa", Libraries::now, "devices=3,broken=0");
    ASSERT_EQ(found.devices.size(), 3U);
    EXPECT_EQ(found.devices[0].health, Health::unusable);
    EXPECT_EQ(found.devices[0].health_detail, "Unknown error (MTML 2)");
    EXPECT_EQ(found.devices[2].health, Health::ok);
}

TEST(RocmFacts, ComeFromTheLibraryAndTheModelFromTheKernel) {
    const testing::TempDir temp;
    const auto folder = temp.path() / "bus/pci/devices/0000:11:00.0";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "product_name") << "AMD Instinct Replay\n";
    Environment environment = bare_environment();
    environment.set("OPGAUGE_SYSFS", temp.path().string());
    const auto found = from_library("rocm", Libraries::now, "devices=2", environment);
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_EQ(found.devices[0].name, "AMD GPU") << "the kernel tells none";
    const Device& device = found.devices[1];
    EXPECT_EQ(device.name, "AMD Instinct Replay");
    EXPECT_EQ(device.pci_id, "0000:11:00.0");
    EXPECT_EQ(device.uuid, "00ff74a1-0000-1000-8000-000000000001");
    EXPECT_EQ(device.partition, "SPX");
    EXPECT_EQ(device.memory_total_bytes, 192 * kGibibyte);
    EXPECT_EQ(device.memory_free_bytes, 191 * kGibibyte);
}

TEST(RocmFacts, DevicesAreNumberedAsHipCountsThem) {
    const auto found = from_library("rocm", Libraries::now, "devices=3,hip_reversed=1");
    ASSERT_EQ(found.devices.size(), 3U);
    EXPECT_EQ(found.devices[0].index, 0);
    EXPECT_EQ(found.devices[0].token, "0");
    EXPECT_EQ(found.devices[0].pci_id, "0000:12:00.0");
    EXPECT_EQ(found.devices[2].pci_id, "0000:10:00.0");
}

TEST(RocmFacts, ADeviceWithoutAnAddressIsUnusableAndHidesNone) {
    const auto found = from_library("rocm", Libraries::now, "devices=2,broken=0");
    ASSERT_EQ(found.devices.size(), 2U);
    EXPECT_EQ(found.devices[0].health, Health::unusable);
    EXPECT_EQ(found.devices[1].health, Health::ok);
}

TEST(RocmFacts, TheOlderLibraryTellsMemoryAndPlace) {
    const testing::TempDir temp;
    std::filesystem::create_symlink(testing::kLibraries + "now/librocm_smi64.so",
                                    temp.path() / "librocm_smi64.so");
    Environment environment = bare_environment();
    environment.set("OPGAUGE_LIBRARY_PATH", temp.path().string());
    const auto found = from_library("rocm", Libraries::absent, "devices=1", environment);
    ASSERT_EQ(found.devices.size(), 1U) << reasons(found);
    EXPECT_EQ(found.devices[0].pci_id, "0000:41:00.0");
    EXPECT_EQ(found.devices[0].memory_total_bytes, 64 * kGibibyte);
    EXPECT_EQ(found.devices[0].memory_free_bytes, 63 * kGibibyte);
    EXPECT_EQ(reasons(found), "no library libamd_smi.so");
    const auto failing = from_library("rocm", Libraries::absent, "fail_init=4", environment);
    EXPECT_NE(reasons(failing).find("cannot start: no permission (rocm_smi 4)"), std::string::npos)
        << reasons(failing);
}

TEST(AscendFacts, ComeFromTheLibrary) {
    const auto found = from_library("ascend", Libraries::now, "devices=4,processes=1");
    ASSERT_EQ(found.devices.size(), 4U);
    const Device& device = found.devices[3];
    EXPECT_EQ(device.uuid, "90000001-00000002-00000003-00000005-00000001");
    EXPECT_EQ(device.memory_total_bytes, 64 * kGibibyte);
    EXPECT_EQ(device.memory_free_bytes, 63 * kGibibyte);
    EXPECT_TRUE(device.processes_known);
    ASSERT_EQ(device.processes.size(), 1U) << "not this process";
    EXPECT_EQ(device.processes[0].pid, 100'001);
    EXPECT_EQ(device.processes[0].memory_bytes, 5U);
}

TEST(AscendFacts, CardsWithoutHbmHaveTheirDdr) {
    const auto found = from_library("ascend", Libraries::now, "devices=1,ddr=1");
    EXPECT_EQ(found.devices.at(0).memory_total_bytes, 44280ULL << 20U);
    EXPECT_EQ(found.devices[0].memory_free_bytes, 40000ULL << 20U);
}

TEST(AscendFacts, ACardThatDoesNotAnswerIsNamedAndHidesNone) {
    const auto found = from_library("ascend", Libraries::now, "devices=4,bad_card=1");
    ASSERT_EQ(found.devices.size(), 2U);
    EXPECT_EQ(found.devices[0].index, 2) << "the runtime's number, not the rank";
    EXPECT_EQ(reasons(found),
              "DCMI cannot read card 1: another container holds the devices (-8020)");
}

}  // namespace
}  // namespace opgauge
