// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/interpreter_cache.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace opgauge {
namespace {

class InterpreterCacheTest : public ::testing::Test {
  protected:
    InterpreterCacheTest() {
        environment_.set("XDG_CACHE_HOME", (temp_.path() / "cache").string());
        environment_.set("HOME", temp_.path().string());
        environment_.set("PATH", "/usr/bin");
        std::filesystem::create_directory(site_);
        std::ofstream(python_) << "";
        found_.executable = python_.string();
        found_.folders = {site_.string(), (temp_.path() / "absent").string()};
        found_.modules = {"pytest", "torch"};
        remember_modules("python3", environment_, found_);
    }

    bool known() const { return remembered_modules("python3", environment_).has_value(); }
    void touch(const std::filesystem::path& path) const {
        std::filesystem::last_write_time(
            path, std::filesystem::last_write_time(path) + std::chrono::seconds(5));
    }

    testing::TempDir temp_;
    std::filesystem::path site_ = temp_.path() / "site-packages";
    std::filesystem::path python_ = temp_.path() / "python3";
    Environment environment_;
    InterpreterModules found_;
};

TEST_F(InterpreterCacheTest, WhatWasFoundIsRemembered) {
    const auto known = remembered_modules("python3", environment_);
    ASSERT_TRUE(known);
    EXPECT_EQ(known->executable, found_.executable);
    EXPECT_EQ(known->folders, found_.folders);
    EXPECT_EQ(known->modules, found_.modules);
}

TEST_F(InterpreterCacheTest, APackageThatIsInstalledMakesItForgotten) {
    touch(site_);
    EXPECT_FALSE(known());
    remember_modules("python3", environment_, found_);
    EXPECT_TRUE(known());
}

TEST_F(InterpreterCacheTest, AnotherInterpreterAtThePlaceMakesItForgotten) {
    touch(python_);
    EXPECT_FALSE(known());
}

TEST_F(InterpreterCacheTest, AFolderThatComesIntoBeingMakesItForgotten) {
    std::filesystem::create_directory(temp_.path() / "absent");
    EXPECT_FALSE(known());
}

TEST_F(InterpreterCacheTest, AnotherNameOrEnvironmentIsAnotherInterpreter) {
    EXPECT_FALSE(remembered_modules("python3.12", environment_));
    environment_.set("PYTHONPATH", "/more");
    EXPECT_FALSE(known());
    environment_.unset("PYTHONPATH");
    EXPECT_TRUE(known());
    environment_.set("VIRTUAL_ENV", "/venv");
    EXPECT_FALSE(known());
}

TEST_F(InterpreterCacheTest, ADamagedFileIsNotBelieved) {
    int files = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(temp_.path() / "cache")) {
        if (!entry.is_regular_file()) continue;
        std::ofstream(entry.path()) << "{\"executable\":";
        ++files;
    }
    EXPECT_EQ(files, 1);
    EXPECT_FALSE(known());
}

}  // namespace
}  // namespace opgauge
