// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/known_tests.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace opgauge {
namespace {

using Strings = std::vector<std::string>;

KnownTest known(const std::string& node, const std::string& device, double seconds) {
    return {node, device, {"float16", "int8"}, {"float16"}, 5, seconds, "passed", "2026-12-04"};
}

TEST(KnownTests, TheLastLineOfANodeOnADeviceCounts) {
    const testing::TempDir folder;
    const auto file = known_tests_file(folder.path(), "/corpus");
    EXPECT_TRUE(read_known_tests(file).empty());
    add_known_tests(file, {known("t.py::a", "X", 1), known("t.py::b", "X", 2)});
    add_known_tests(file, {known("t.py::a", "Y", 3), known("t.py::a", "X", 4)});
    const auto tests = read_known_tests(file);
    ASSERT_EQ(tests.size(), 3U);
    EXPECT_EQ(to_json(tests[0]), to_json(known("t.py::a", "X", 4)));
    EXPECT_EQ(to_json(tests[1]), to_json(known("t.py::a", "Y", 3)));
    EXPECT_EQ(to_json(tests[2]), to_json(known("t.py::b", "X", 2)));
}

TEST(KnownTests, OtherCorporaHaveOtherFilesAndATornLineIsPassedOver) {
    const testing::TempDir folder;
    const auto file = known_tests_file(folder.path(), "/corpus");
    EXPECT_NE(file, known_tests_file(folder.path(), "/other"));
    add_known_tests(file, {known("t.py::a", "X", 1)});
    std::ofstream(file, std::ios::app) << R"({"node":"t.py::a","devi)";
    const auto tests = read_known_tests(file);
    ASSERT_EQ(tests.size(), 1U);
    EXPECT_EQ(tests[0].dtypes, (Strings{"float16", "int8"}));
    EXPECT_EQ(tests[0].seconds, 1);
}

}  // namespace
}  // namespace opgauge
