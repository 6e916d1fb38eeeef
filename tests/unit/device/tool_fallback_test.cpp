// SPDX-License-Identifier: Apache-2.0
// Enumeration through vendors' tools (tests/fake_tools), where no library can be opened.
#include "opgauge/device/tool_text.h"

#include "tests/unit/device/stand_ins.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using testing::from_tool;
using testing::reasons;

TEST(ToolFallback, EachVendorsToolAnswersWhereItsLibraryIsAbsent) {
    const auto cuda = from_tool("cuda");
    ASSERT_EQ(cuda.devices.size(), 2U) << reasons(cuda);
    EXPECT_EQ(cuda.source, "nvidia-smi");
    EXPECT_EQ(cuda.driver, "570.00");
    EXPECT_EQ(cuda.devices[0].power_limit_watts, 700.0);
    EXPECT_EQ(cuda.devices[0].compute_capability, 90);
    EXPECT_FALSE(cuda.devices[1].memory_total_bytes) << "[N/A] is unknown, not 0";
    const auto musa = from_tool("musa");
    ASSERT_EQ(musa.devices.size(), 2U) << reasons(musa);
    EXPECT_EQ(musa.source, "mthreads-gmi");
    EXPECT_EQ(musa.driver, "3.3.5");
    const auto ascend = from_tool("ascend");
    ASSERT_EQ(ascend.devices.size(), 2U) << reasons(ascend);
    EXPECT_EQ(ascend.source, "npu-smi");
    EXPECT_EQ(ascend.devices[1].index, 1) << "the rank, not the printed NPU id";
    EXPECT_EQ(ascend.devices[1].name, "Ascend910B3") << "as the framework spells it";
}

TEST(ToolFallback, AToolThatExistsProvesNothing) {
    EXPECT_EQ(reasons(from_tool("cuda", "mismatch")),
              "no library libnvidia-ml.so.1; nvidia-smi: Failed to initialize NVML: "
              "Driver/library version mismatch (exit 18)");
    EXPECT_EQ(reasons(from_tool("cuda", "none")),
              "no library libnvidia-ml.so.1; nvidia-smi: No devices were found (exit 6)");
    EXPECT_NE(reasons(from_tool("musa", "empty")).find("mthreads-gmi printed nothing"),
              std::string::npos);
    EXPECT_NE(reasons(from_tool("ascend", "nodriver")).find("-8005"), std::string::npos);
    const auto rocm = reasons(from_tool("rocm", "nodriver"));
    EXPECT_NE(rocm.find("driver not initialized"), std::string::npos) << rocm;
    EXPECT_NE(rocm.find("rocm-smi printed no JSON"), std::string::npos) << rocm;
}

TEST(ToolFallback, AToolThatHangsIsGivenUpAfterTheDeadline) {
    Environment environment = testing::bare_environment();
    environment.set("PATH", testing::kTools);
    environment.set("FAKE_TOOL", "hang");
    environment.set("OPGAUGE_TOOL_DEADLINE", "1");
    for (const char* backend : {"cuda", "musa"}) {
        const auto found = (*find_backend(backend))->discover(environment);
        EXPECT_TRUE(found.devices.empty());
        EXPECT_NE(found.reasons.at(1).find("did not end within 1"), std::string::npos)
            << reasons(found);
    }
}

TEST(ToolFallback, TheDeadlineIsTheUsualOneUnlessAWholeNumberOfSecondsIsSet) {
    const std::chrono::milliseconds usual{10'000};
    Environment environment;
    EXPECT_EQ(tool_deadline(environment, usual), usual);
    for (const char* value : {"", "0", "-1", "soon", "1.5", "99999999999"}) {
        environment.set("OPGAUGE_TOOL_DEADLINE", value);
        EXPECT_EQ(tool_deadline(environment, usual), usual) << value;
    }
    environment.set("OPGAUGE_TOOL_DEADLINE", "60");
    EXPECT_EQ(tool_deadline(environment, usual), std::chrono::seconds(60));
}

TEST(CudaToolFallback, AskedAgainWithoutFieldsThatTheDriverDoesNotKnow) {
    const auto found = from_tool("cuda", "older");
    ASSERT_EQ(found.devices.size(), 1U) << reasons(found);
    EXPECT_EQ(found.devices[0].token, "GPU-33333333");
    EXPECT_EQ(found.driver, "418.00");
    EXPECT_FALSE(found.devices[0].compute_capability);
    EXPECT_EQ(found.devices[0].memory_free_bytes, 0U) << "more in use than there is";
}

TEST(CudaToolFallback, InstancesStandInTheirGpusPlace) {
    const auto found = from_tool("cuda", "mig");
    ASSERT_EQ(found.devices.size(), 3U) << reasons(found);
    EXPECT_EQ(found.devices[0].token, "MIG-aaaaaaaa");
    EXPECT_EQ(found.devices[0].partition, "MIG 3g.40gb");
    EXPECT_EQ(found.devices[0].pci_id, "0000:19:00.0");
    EXPECT_FALSE(found.devices[0].memory_total_bytes) << "the GPU's memory is not the instance's";
    EXPECT_FALSE(found.devices[0].processes_known);
    EXPECT_EQ(found.devices[1].token, "MIG-bbbbbbbb");
    EXPECT_EQ(found.devices[2].token, "GPU-55555555");
    EXPECT_TRUE(found.devices[2].processes_known);
    EXPECT_EQ(found.reasons.back(),
              "device 2 (NVIDIA Replay) is in MIG mode and has no instance: create one or end the "
              "mode");
}

TEST(CudaToolFallback, ALostGpuIsNamedAndHealthyRowsStay) {
    const auto found = from_tool("cuda", "lost");
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_EQ(found.devices[0].health, Health::ok);
    EXPECT_EQ(found.devices[1].index, 2);
    EXPECT_EQ(found.devices[1].health, Health::unusable);
    EXPECT_EQ(found.reasons.back(),
              "nvidia-smi: Unable to determine the device handle for GPU1: 0000:3B:00.0: Unknown "
              "Error");
}

TEST(CudaToolFallback, ProcessesGoToTheirDevice) {
    const auto found = from_tool("cuda");
    ASSERT_EQ(found.devices.size(), 2U);
    ASSERT_EQ(found.devices[0].processes.size(), 2U);
    EXPECT_EQ(found.devices[0].processes[0].pid, 4242);
    EXPECT_EQ(found.devices[0].processes[0].name, "python3, with, commas");
    EXPECT_EQ(found.devices[0].processes[0].memory_bytes, 512ULL << 20U);
    EXPECT_EQ(found.devices[0].processes[1].name, "");
    EXPECT_FALSE(found.devices[0].processes[1].memory_bytes);
    EXPECT_TRUE(found.devices[1].processes.empty());
    EXPECT_TRUE(found.devices[1].processes_known);
}

TEST(RocmToolFallback, ListGivesHipsNumbersAndUuidsToTheFacts) {
    const auto found = from_tool("rocm");
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_EQ(found.source, "amd-smi");
    EXPECT_EQ(found.devices[0].index, 0);
    EXPECT_EQ(found.devices[0].token, "0");
    EXPECT_EQ(found.devices[0].name, "AMD Board");
    EXPECT_EQ(found.devices[0].uuid, "83ff74a1-0000-1000-8005-18abbc543198");
    EXPECT_EQ(found.devices[1].name, "AMD Replay");
    EXPECT_EQ(found.devices[1].memory_total_bytes, 196592ULL << 20U);
}

TEST(RocmToolFallback, AnOlderListStillGivesUuids) {
    const auto found = from_tool("rocm", "older");
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_EQ(found.devices[0].name, "AMD Replay") << "the tool's own order";
    EXPECT_EQ(found.devices[0].uuid, "61ff74a1-0000-1000-80aa-264e650fb843");
}

TEST(RocmToolFallback, TheOlderToolAnswersWhereTheNewerCannot) {
    const auto found = from_tool("rocm", "rocm");
    ASSERT_EQ(found.devices.size(), 2U) << reasons(found);
    EXPECT_EQ(found.source, "rocm-smi");
    EXPECT_EQ(found.devices[1].index, 2);
}

TEST(AscendToolFallback, ProcessRowsGoToTheirDevice) {
    const auto found = from_tool("ascend");
    ASSERT_EQ(found.devices.size(), 2U);
    EXPECT_TRUE(found.devices[0].processes_known);
    EXPECT_TRUE(found.devices[0].processes.empty());
    EXPECT_EQ(found.devices[0].health, Health::unusable);
    ASSERT_EQ(found.devices[1].processes.size(), 2U);
    EXPECT_EQ(found.devices[1].processes[0].pid, 2290156);
    EXPECT_EQ(found.devices[1].processes[0].name, "python");
    EXPECT_EQ(found.devices[1].processes[0].memory_bytes, 3300ULL << 20U);
    EXPECT_FALSE(found.devices[1].processes[1].memory_bytes);
}

}  // namespace
}  // namespace opgauge
