// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge {
namespace {

using ::testing::HasSubstr;

const Backend& backend(const char* name) {
    return **find_backend(name);
}

Discovery devices(int count) {
    Discovery found;
    for (int i = 0; i < count; ++i) {
        Device device;
        device.index = i;
        device.token = std::to_string(i);
        found.devices.push_back(device);
    }
    return found;
}

Allotment holds(std::vector<GresShare> shares, std::string gres = "") {
    return {std::move(shares), std::move(gres)};
}

GresShare share(std::string name, std::vector<int> indices) {
    const int count = static_cast<int>(indices.size());
    return {"n1", std::move(name), "", count, std::move(indices)};
}

using Values = std::map<std::string, std::string, std::less<>>;
Result<GivenDevices> given(const char* name, const Values& values, const Allotment& allotment,
                           int seen = 8) {
    return given_devices(backend(name), devices(seen), Environment(values), allotment);
}

TEST(SlurmDevice, WhatSlurmSetIsKept) {
    const auto devices =
        given("cuda", {{"CUDA_VISIBLE_DEVICES", "2,3"}}, holds({share("gpu", {2, 3})}));
    ASSERT_TRUE(devices) << devices.error().message;
    EXPECT_TRUE(devices->changes.empty());
    EXPECT_EQ(devices->request, "all");
    EXPECT_EQ(devices->why, "CUDA_VISIBLE_DEVICES=2,3");
}

// Slurm numbers within the job where cgroups hide the rest: the names differ, the count does not.
TEST(SlurmDevice, SlurmsNumbersAreNotComparedWithTheVariables) {
    const auto devices =
        given("cuda", {{"CUDA_VISIBLE_DEVICES", "0"}}, holds({share("gpu", {5})}), 1);
    ASSERT_TRUE(devices) << devices.error().message;
    EXPECT_TRUE(devices->changes.empty());
}

TEST(SlurmDevice, OnANodeWithoutFlagsOnlyTheOutermostLayerStays) {
    const auto devices = given("rocm",
                               {{"CUDA_VISIBLE_DEVICES", "2"},
                                {"ROCR_VISIBLE_DEVICES", "2"},
                                {"HIP_VISIBLE_DEVICES", "2"}},
                               holds({share("gpu", {2})}));
    ASSERT_TRUE(devices) << devices.error().message;
    const EnvironmentChanges expected = {{"CUDA_VISIBLE_DEVICES", std::nullopt},
                                         {"HIP_VISIBLE_DEVICES", std::nullopt}};
    EXPECT_EQ(devices->changes, expected);
    EXPECT_EQ(devices->why, "ROCR_VISIBLE_DEVICES=2");
}

TEST(SlurmDevice, AVendorThatSlurmDoesNotKnowIsPinnedByItsNumbers) {
    for (const auto& [name, variable] :
         {std::pair{"musa", "MUSA_VISIBLE_DEVICES"}, {"ascend", "ASCEND_RT_VISIBLE_DEVICES"}}) {
        // A flag of another vendor's on the node: its variables mean nothing to this backend.
        const auto devices =
            given(name, {{"ROCR_VISIBLE_DEVICES", "1,4"}}, holds({share("npu", {1, 4})}));
        ASSERT_TRUE(devices) << devices.error().message;
        EXPECT_EQ(devices->changes.at(variable), "1,4");
        EXPECT_EQ(devices->request, "all");
        EXPECT_THAT(devices->why, HasSubstr("Slurm gave npu:2(IDX:1,4) and set no variable"));
    }
}

TEST(SlurmDevice, WhereTheNodeShowsOnlyWhatWasGivenNothingIsPinned) {
    const auto devices = given("ascend", {}, holds({share("npu", {6})}), 1);
    ASSERT_TRUE(devices) << devices.error().message;
    EXPECT_TRUE(devices->changes.empty());
    EXPECT_THAT(devices->why, HasSubstr("all devices that are seen here"));
}

TEST(SlurmDevice, AMaskOfAnotherSizeThanTheGrantIsNotSlurms) {
    const auto devices =
        given("ascend", {{"ASCEND_RT_VISIBLE_DEVICES", "0,1,2"}}, holds({share("npu", {1})}));
    ASSERT_FALSE(devices);
    EXPECT_EQ(devices.error().kind, ErrorKind::refused);
    EXPECT_THAT(devices.error().message,
                HasSubstr("shows 3 devices, but Slurm gave this task npu:1(IDX:1)"));
}

TEST(SlurmDevice, WhatCannotBeNamedIsRefused) {
    EXPECT_THAT(given("musa", {}, holds({})).error().message, HasSubstr("no device"));
    EXPECT_THAT(given("musa", {}, holds({{"n1", "gpu", "", 2, {}}})).error().message,
                HasSubstr("gpu:2 without saying which of the 8"));
    EXPECT_THAT(given("musa", {}, holds({share("gpu", {9})})).error().message,
                HasSubstr("has no device 9 here"));
    EXPECT_THAT(given("musa", {}, holds({share("gpu", {1}), share("nic", {0})})).error().message,
                HasSubstr("which of them are the devices cannot be told"));
    EXPECT_THAT(given("cuda", {{"CUDA_VISIBLE_DEVICES", ""}}, holds({})).error().message,
                HasSubstr("hides every device"));
}

TEST(SlurmDevice, TheGresThatWasAskedForIsTheOneWithTheDevices) {
    const auto devices =
        given("musa", {}, holds({share("gpu", {3}), share("nic", {0})}, "gpu:s4000:1"));
    ASSERT_TRUE(devices) << devices.error().message;
    EXPECT_EQ(devices->changes.at("MUSA_VISIBLE_DEVICES"), "3");
}

TEST(SlurmDevice, TheProcessorNeedsNoGres) {
    const auto devices = given("cpu", {}, holds({}));
    ASSERT_TRUE(devices);
    EXPECT_EQ(devices->request, "");
}

}  // namespace
}  // namespace opgauge
