// SPDX-License-Identifier: Apache-2.0
// Every output of a vendor's tool in tests/data/devices (made up) and in shared/devices (real ones,
// where that folder is here), against what a parser must return.
#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/base/text.h"
#include "opgauge/device/tool_output.h"
#include "opgauge/device/tool_text.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace opgauge {
namespace {

const std::filesystem::path kFolder = OPGAUGE_SOURCE_DIR "/../shared/devices";
const std::filesystem::path kOwn = OPGAUGE_SOURCE_DIR "/tests/data/devices";

std::vector<Json> expectations(const std::filesystem::path& folder,
                               const std::filesystem::path& samples) {
    const auto list = read_json_file(folder / "expected.json");
    std::vector<Json> result;
    if (list) result.assign(list->begin(), list->end());
    for (auto& entry : result) entry["path"] = (samples / get_string(entry, "file")).string();
    return result;
}

class ToolSample : public ::testing::TestWithParam<Json> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ToolSample);

std::optional<double> mebibytes(const std::optional<std::uint64_t>& bytes) {
    if (!bytes) return std::nullopt;
    return std::floor(static_cast<double>(*bytes) / static_cast<double>(kMebibyte));
}

void expect_number(const Json& expected, const char* key, std::optional<double> actual) {
    if (!expected.contains(key)) return;
    if (expected.at(key).is_null()) {
        EXPECT_FALSE(actual) << key << " must be unknown";
        return;
    }
    ASSERT_TRUE(actual) << key;
    EXPECT_NEAR(*actual, expected.at(key).get<double>(), 0.01) << key;
}

void expect_text(const Json& expected, const char* key, const std::optional<std::string>& actual) {
    if (!expected.contains(key)) return;
    EXPECT_EQ(actual, get_optional<std::string>(expected, key)) << key;
}

void expect_device(const Json& expected, const Device& device) {
    EXPECT_EQ(device.index, expected.at("index").get<int>());
    if (const auto name = get_optional<std::string>(expected, "name")) {
        EXPECT_EQ(device.name, *name);
    }
    expect_number(expected, "mem_total_mib", mebibytes(device.memory_total_bytes));
    expect_number(expected, "mem_used_mib", mebibytes(device.memory_used_bytes));
    expect_number(expected, "temp_c", device.temperature_celsius);
    expect_number(expected, "power_w", device.power_watts);
    expect_number(expected, "util_pct", device.utilization_percent);
    expect_number(expected, "mem_free_mib", mebibytes(device.memory_free_bytes));
    expect_number(expected, "power_limit_w", device.power_limit_watts);
    expect_text(expected, "uuid", device.uuid);
    expect_text(expected, "token", device.token);
    expect_text(expected, "partition", device.partition);
    if (expected.contains("pci") && expected.at("pci").is_null()) {
        EXPECT_FALSE(device.pci_id);
    }
    if (expected.contains("processes")) {
        std::vector<long long> pids;
        for (const auto& process : device.processes) pids.push_back(process.pid);
        EXPECT_TRUE(device.processes_known);
        EXPECT_EQ(pids, expected.at("processes").get<std::vector<long long>>());
    }
    for (const char* key : {"pci", "bdf"}) {
        if (const auto pci = get_optional<std::string>(expected, key)) {
            EXPECT_EQ(device.pci_id, *pci);
        }
    }
    if (const auto health = get_optional<std::string>(expected, "health")) {
        const bool bad = *health == "requires_reset" || *health == "lost";
        EXPECT_EQ(name_of(device.health), bad ? "unusable" : lower(*health));
    }
    if (const auto capability = get_optional<std::string>(expected, "compute_cap")) {
        EXPECT_EQ(device.compute_capability,
                  static_cast<int>(std::lround(*parse_double(*capability) * 10)));
    }
}

TEST_P(ToolSample, IsReadAsExpected) {
    const Json& expected = GetParam();
    const auto text = read_file(get_string(expected, "path"));
    ASSERT_TRUE(text);
    const auto devices =
        parse_tool_output(get_string(expected, "backend"), get_string(expected, "command"), *text);
    const auto count = get_optional<std::size_t>(expected, "count");
    if (!count) {
        // No device list: whatever it is, it must not be taken for an empty machine that works.
        EXPECT_TRUE(!devices || !devices->empty());
        return;
    }
    if (*count == 0) {
        EXPECT_TRUE(!devices || devices->empty());
        return;
    }
    ASSERT_TRUE(devices) << devices.error().message;
    const std::size_t instances = std::accumulate(
        expected.at("devices").begin(), expected.at("devices").end(), std::size_t{0},
        [](std::size_t sum, const Json& device) {
            return sum + get_optional<std::size_t>(device, "mig_children").value_or(1);
        });
    ASSERT_EQ(devices->size(), instances);
    if (instances != *count) {
        // Instances stand in their GPU's place.
        for (const auto& instance : *devices) {
            EXPECT_TRUE(instance.token.starts_with("MIG-")) << instance.token;
            EXPECT_EQ(instance.index, expected.at("devices").at(0).at("index").get<int>());
        }
        return;
    }
    for (std::size_t i = 0; i < *count; ++i) {
        SCOPED_TRACE(i);
        expect_device(expected.at("devices").at(i), devices->at(i));
    }
}

std::string test_name(const ::testing::TestParamInfo<Json>& sample) {
    std::string name = get_string(sample.param, "file");
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(Shared, ToolSample,
                         ::testing::ValuesIn(expectations(kFolder, kFolder / "samples")),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Own, ToolSample, ::testing::ValuesIn(expectations(kOwn, kOwn)), test_name);

TEST(ToolSamples, AreHereOrSkippedByName) {
    EXPECT_EQ(expectations(kOwn, kOwn).size(), 22U);
    const auto shared = expectations(kFolder, kFolder / "samples");
    if (shared.empty()) GTEST_SKIP() << kFolder << " is not here: real outputs not tested";
    EXPECT_GE(shared.size(), 88U);
}

}  // namespace
}  // namespace opgauge
