// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/backends.h"
#include "opgauge/device/visibility.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Discovery devices_of(const std::string& backend, int count) {
    Discovery found;
    found.backend = backend;
    found.source = "test";
    for (int i = 0; i < count; ++i) {
        Device device;
        device.backend = backend;
        device.index = i;
        device.name = "Model";
        device.health = Health::ok;
        device.processes_known = true;
        if (backend == "cuda") device.uuid = "GPU-" + std::string(4, static_cast<char>('a' + i));
        device.token = device.uuid.value_or(std::to_string(i));
        found.devices.push_back(device);
    }
    return found;
}

Result<std::vector<SelectedDevice>> select(const std::string& backend, int count,
                                           const std::string& request, Variables variables = {}) {
    return select_devices(**find_backend(backend), devices_of(backend, count), request,
                          Environment(std::move(variables)));
}

std::vector<std::string> tokens(const Result<std::vector<SelectedDevice>>& selected) {
    std::vector<std::string> result;
    if (!selected) return {"error: " + selected.error().message};
    for (const auto& device : *selected) result.push_back(device.token);
    return result;
}

using Tokens = std::vector<std::string>;

// C02: shards get the caller's own tokens, in order.
TEST(Selection, TokensAreMappedInsideTheCallersMask) {
    const auto two = select("cuda", 8, "0-1", {{"CUDA_VISIBLE_DEVICES", "4,5,6,7"}});
    EXPECT_EQ(tokens(two), (Tokens{"4", "5"}));
    EXPECT_EQ(two->at(0).device.index, 4);
    EXPECT_EQ(two->at(0).changes.at("CUDA_VISIBLE_DEVICES"), "4");
    EXPECT_EQ(tokens(select("cuda", 8, "1", {{"CUDA_VISIBLE_DEVICES", "6,7"}})), (Tokens{"7"}));
    EXPECT_EQ(tokens(select("musa", 2, "0,1")), (Tokens{"0", "1"}));
}

TEST(Selection, MoreDevicesThanTheMaskShowsAreRefusedByName) {
    const auto none = select("cuda", 8, "1", {{"CUDA_VISIBLE_DEVICES", "1"}});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::usage);
    EXPECT_EQ(none.error().message,
              "--devices 1: there is no device 1; CUDA_VISIBLE_DEVICES=1 shows 1");
}

TEST(Selection, ReversedAndUuidMasksKeepTheirOrder) {
    EXPECT_EQ(tokens(select("cuda", 4, "all", {{"CUDA_VISIBLE_DEVICES", "3,1"}})),
              (Tokens{"3", "1"}));
    const auto by_id = select("cuda", 4, "0", {{"CUDA_VISIBLE_DEVICES", "GPU-cc,GPU-aa"}});
    EXPECT_EQ(tokens(by_id), (Tokens{"GPU-cc"}));
    EXPECT_EQ(by_id->at(0).device.index, 2);
}

TEST(Selection, UuidsAndTheirPrefixesNameDevices) {
    EXPECT_EQ(tokens(select("cuda", 4, "GPU-b")), (Tokens{"GPU-bbbb"}));
    EXPECT_EQ(tokens(select("cuda", 4, "gpu-CCCC")), (Tokens{"GPU-cccc"}));
    const auto many = select("cuda", 4, "GPU-");
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().message, "--devices GPU-: 4 devices have ids that begin so");
    const auto none = select("cuda", 4, "GPU-x");
    EXPECT_EQ(none.error().message,
              "--devices GPU-x: no visible device has this id; 4 devices are here");
}

TEST(Selection, ABlankMaskOrMinusOneHidesEveryDevice) {
    for (const char* mask : {"", "-1", "none"}) {
        const auto none = select("cuda", 2, "", {{"CUDA_VISIBLE_DEVICES", mask}});
        ASSERT_FALSE(none) << mask;
        EXPECT_EQ(none.error().kind, ErrorKind::environment);
        EXPECT_EQ(none.error().message,
                  "CUDA_VISIBLE_DEVICES hides every device of backend cuda; unset it or name "
                  "devices in it");
    }
}

TEST(Selection, AMaskEndsAtItsFirstInvalidToken) {
    EXPECT_EQ(tokens(select("cuda", 3, "all", {{"CUDA_VISIBLE_DEVICES", "0,-1,1"}})),
              (Tokens{"0"}));
    EXPECT_EQ(tokens(select("cuda", 1, "all", {{"CUDA_VISIBLE_DEVICES", "0,7"}})), (Tokens{"0"}));
}

TEST(Selection, ARepeatedTokenIsRefusedInMaskAndRequest) {
    const auto mask = select("cuda", 2, "", {{"CUDA_VISIBLE_DEVICES", "0,00"}});
    ASSERT_FALSE(mask);
    EXPECT_EQ(mask.error().kind, ErrorKind::usage);
    EXPECT_EQ(select("cuda", 2, "0,GPU-a").error().message,
              "--devices 0,GPU-a names device 0 twice");
}

TEST(Selection, AscendMasksMustAscendAndChildrenGetAscendingLists) {
    const auto bad = select("ascend", 4, "", {{"ASCEND_RT_VISIBLE_DEVICES", "3,1"}});
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("does not ascend"), std::string::npos);
    EXPECT_EQ(tokens(select("ascend", 4, "1", {{"ASCEND_RT_VISIBLE_DEVICES", "1,3"}})),
              (Tokens{"3"}));
    const auto changes = (*find_backend("ascend"))->pin(Environment(), {"3", "1"});
    EXPECT_EQ(changes->at("ASCEND_RT_VISIBLE_DEVICES"), "1,3");
}

TEST(Selection, TheContainersAscendVariableIsNoMask) {
    EXPECT_EQ(tokens(select("ascend", 2, "all", {{"ASCEND_VISIBLE_DEVICES", "12"}})),
              (Tokens{"0", "1"}));
}

// C04: exactly one layer is narrowed, and never both to one absolute number.
TEST(Selection, RocmNarrowsOnlyTheInnermostLayerInUse) {
    const auto outer = select("rocm", 4, "1", {{"ROCR_VISIBLE_DEVICES", "2,3"}});
    EXPECT_EQ(tokens(outer), (Tokens{"3"}));
    EXPECT_EQ(outer->at(0).changes, (EnvironmentChanges{{"ROCR_VISIBLE_DEVICES", "3"}}));
    EXPECT_EQ(outer->at(0).device.index, 3);
    const auto both =
        select("rocm", 8, "0", {{"ROCR_VISIBLE_DEVICES", "6,7"}, {"HIP_VISIBLE_DEVICES", "1"}});
    EXPECT_EQ(tokens(both), (Tokens{"1"}));
    EXPECT_EQ(both->at(0).changes, (EnvironmentChanges{{"HIP_VISIBLE_DEVICES", "1"}}));
    EXPECT_EQ(both->at(0).device.index, 7);
    const auto none = select("rocm", 4, "2");
    EXPECT_EQ(none->at(0).changes, (EnvironmentChanges{{"HIP_VISIBLE_DEVICES", "2"}}));
}

TEST(Selection, RocmKeepsTheCudaSpellingInStepWithItsOwn) {
    const auto selected = select("rocm", 4, "0", {{"CUDA_VISIBLE_DEVICES", "2,3"}});
    EXPECT_EQ(selected->at(0).changes,
              (EnvironmentChanges{{"CUDA_VISIBLE_DEVICES", "2"}, {"HIP_VISIBLE_DEVICES", "2"}}));
}

TEST(Selection, IdleLeavesOutDevicesWithOtherProcesses) {
    auto found = devices_of("cuda", 2);
    found.devices[0].processes.push_back({42, "other", std::nullopt});
    const auto idle = select_devices(**find_backend("cuda"), found, "idle", Environment());
    EXPECT_EQ(tokens(idle), (Tokens{"GPU-bbbb"}));
    found.devices[1].processes.push_back({43, "other", std::nullopt});
    EXPECT_EQ(select_devices(**find_backend("cuda"), found, "idle", Environment()).error().message,
              "no idle device: 2 devices are here");
}

TEST(Selection, IdleIsRefusedWhereNothingTellsTheProcesses) {
    auto found = devices_of("musa", 2);
    found.devices[1].processes_known = false;
    const auto idle = select_devices(**find_backend("musa"), found, "idle", Environment());
    ASSERT_FALSE(idle);
    EXPECT_EQ(idle.error().kind, ErrorKind::environment);
    EXPECT_EQ(idle.error().message,
              "--devices idle: nothing here tells which processes use device 1 (Model); name "
              "devices instead");
}

TEST(Selection, AnEmptyEntryIsACommaTooMany) {
    for (const char* request : {"0,", ",0", ","}) {
        EXPECT_EQ(tokens(select("cuda", 1, request)),
                  Tokens{"error: --devices has an empty entry: a comma too many"});
    }
}

TEST(Selection, AMaskThatIsAMistakeIsExplained) {
    const auto none = select("cuda", 2, "", {{"CUDA_VISIBLE_DEVICES", "GPU0"}});
    EXPECT_EQ(none.error().message,
              "CUDA_VISIBLE_DEVICES hides every device of backend cuda; unset it or name devices "
              "in it (CUDA_VISIBLE_DEVICES=GPU0 ends at 'GPU0': the runtime reads no further)");
}

TEST(Selection, AnAmbiguousBeginningInAMaskNamesNoDevice) {
    auto found = devices_of("cuda", 2);
    found.devices[0].uuid = "GPU-ab";
    found.devices[1].uuid = "GPU-ac";
    const auto& cuda = **find_backend("cuda");
    const auto both =
        select_devices(cuda, found, "", Environment(Variables{{"CUDA_VISIBLE_DEVICES", "GPU-a"}}));
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error().message,
              "CUDA_VISIBLE_DEVICES=GPU-a names no device that is here (2 found by test)");
    EXPECT_EQ(tokens(select_devices(cuda, found, "",
                                    Environment(Variables{{"CUDA_VISIBLE_DEVICES", "gpu-AC"}}))),
              Tokens{"gpu-AC"});
}

TEST(Selection, InstancesOfOneGpuAreOneModel) {
    auto found = devices_of("cuda", 2);
    found.devices[0].name = "Model MIG 1g.5gb";
    found.devices[1].name = "Model MIG 2g.10gb";
    found.devices[1].index = 0;
    EXPECT_EQ(tokens(select_devices(**find_backend("cuda"), found, "",
                                    Environment(Variables{{"CUDA_VISIBLE_DEVICES", "0"}}))),
              Tokens{"0"});
}

TEST(Selection, RocmIdsOfTheRuntimeAreFoundByTheLibrarysSpelling) {
    auto found = devices_of("rocm", 2);
    found.devices[0].uuid = "61ff74a1-0000-1000-80aa-264e650fb843";
    found.devices[1].uuid = "83ff74a1-0000-1000-8005-18abbc543198";
    const auto& rocm = **find_backend("rocm");
    const auto select_in = [&](Variables variables) {
        return select_devices(rocm, found, "", Environment(std::move(variables)));
    };
    const auto outer = select_in({{"ROCR_VISIBLE_DEVICES", "GPU-830518abbc543198"}});
    ASSERT_TRUE(outer) << outer.error().message;
    EXPECT_EQ(outer->at(0).device.index, 1);
    // Within the outer list, the first device is the second of the machine.
    const auto inner =
        select_in({{"ROCR_VISIBLE_DEVICES", "GPU-8305"}, {"HIP_VISIBLE_DEVICES", "0"}});
    ASSERT_TRUE(inner) << inner.error().message;
    EXPECT_EQ(inner->at(0).device.index, 1);
    EXPECT_FALSE(select_in(
        {{"ROCR_VISIBLE_DEVICES", "GPU-8305"}, {"HIP_VISIBLE_DEVICES", "GPU-61aa264e650fb843"}}))
        << "an id outside the outer list names nothing";
}

TEST(Selection, AnUnusableDeviceIsPassedOverAndRefusedByName) {
    auto found = devices_of("cuda", 2);
    found.devices[0].health = Health::unusable;
    found.devices[0].health_detail = "GPU requires reset";
    const Environment none;
    EXPECT_EQ(tokens(select_devices(**find_backend("cuda"), found, "", none)),
              (Tokens{"GPU-bbbb"}));
    const auto asked = select_devices(**find_backend("cuda"), found, "0", none);
    EXPECT_EQ(asked.error().kind, ErrorKind::environment);
    EXPECT_EQ(asked.error().message,
              "device GPU-aaaa (Model) must not be measured on: GPU requires reset");
}

TEST(Selection, AnIndexAmongDifferentModelsNeedsAKnownOrder) {
    auto found = devices_of("cuda", 2);
    found.devices[1].name = "Another";
    const auto& cuda = **find_backend("cuda");
    const auto guess =
        select_devices(cuda, found, "", Environment(Variables{{"CUDA_VISIBLE_DEVICES", "1"}}));
    ASSERT_FALSE(guess);
    EXPECT_NE(guess.error().message.find("CUDA_DEVICE_ORDER=PCI_BUS_ID"), std::string::npos);
    EXPECT_TRUE(select_devices(cuda, found, "",
                               Environment(Variables{{"CUDA_VISIBLE_DEVICES", "1"},
                                                     {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}})));
}

TEST(Backends, AliasesFindTheirBackendInAnyCase) {
    const std::vector<std::pair<const char*, const char*>> pairs = {
        {"nvidia", "cuda"},       {"GPU", "cuda"},   {"nv", "cuda"},       {"mthreads", "musa"},
        {"MooreThreads", "musa"}, {"mt", "musa"},    {"hip", "rocm"},      {"amd", "rocm"},
        {"amdgpu", "rocm"},       {"npu", "ascend"}, {"huawei", "ascend"}, {"cann", "ascend"},
        {"host", "cpu"}};
    for (const auto& [alias, name] : pairs) {
        const auto backend = find_backend(alias);
        ASSERT_TRUE(backend) << alias;
        EXPECT_EQ((*backend)->name(), name) << alias;
    }
}

TEST(Backends, AnUnknownNameGetsTheNearestKnownOne) {
    const auto backend = find_backend("cudaa");
    ASSERT_FALSE(backend);
    EXPECT_EQ(
        backend.error().message,
        "unknown backend 'cudaa'; did you mean 'cuda'?; known: cuda, musa, rocm, ascend, cpu, "
        "auto");
}

TEST(Visibility, LenientNumbersAreWhatTheDriverWasSeenToTake) {
    MaskRules rules;
    rules.numbers = MaskRules::Numbers::lenient;
    for (const char* value : {"0", "00", "0x0", " 0", "0 "}) {
        EXPECT_EQ(read_mask("V", value, rules)->tokens.size(), 1U) << value;
    }
    EXPECT_TRUE(read_mask("V", "GPU-", rules)->hides_all);
    EXPECT_TRUE(read_mask("V", "01", MaskRules{})->hides_all);
    EXPECT_EQ(read_mask("V", "1, 2,3", MaskRules{})->tokens, Tokens{"1"});
}

}  // namespace
}  // namespace opgauge
