// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/python_probe.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace opgauge {
namespace {

// A module that would tell if it were imported, and a folder that only has a module's name.
TEST(PythonProbe, FindsModulesWithoutImportingThem) {
    const testing::TempDir temp;
    std::filesystem::create_directories(temp.path() / "torch");
    std::ofstream(temp.path() / "torch" / "__init__.py") << "raise SystemExit(3)\n";
    std::filesystem::create_directories(temp.path() / "triton");
    Environment environment;
    environment.set("PATH", "/usr/bin:/bin");
    environment.set("PYTHONPATH", temp.path().string());
    environment.set("PYTHONNOUSERSITE", "1");
    const auto facts = probe_python("python3", environment);
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_TRUE(facts->modules.contains("torch"));
    if (facts->packages.at("triton")) GTEST_SKIP() << "this machine's own Python has triton";
    EXPECT_FALSE(facts->modules.contains("triton"));
}

TEST(PythonProbe, NativePlansAreLeftAloneAndAnAbsentInterpreterLeavesThemOpen) {
    Plan plan;
    plan.capabilities = {{"fork_compile", "yes"}, {"telemetry", "yes"}};
    plan.corpus_name = "native";
    plan.command.argv = {"/absent/python"};
    narrow_capabilities(plan, Environment());
    EXPECT_EQ(plan.capabilities.at("fork_compile"), "yes");
    plan.corpus_name = "flaggems";
    narrow_capabilities(plan, Environment());
    EXPECT_TRUE(plan.capabilities.at("fork_compile")
                    .starts_with("unknown: no Python to run the corpus with"));
    EXPECT_EQ(plan.capabilities.at("telemetry"), "yes");
}

}  // namespace
}  // namespace opgauge
