// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/tool.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <thread>

namespace opgauge {
namespace {

using namespace std::chrono_literals;

const Environment& environment() {
    static const Environment of_tests = Environment::of_this_process();
    return of_tests;
}

Result<ToolOutput> run_shell(const std::string& script, std::chrono::milliseconds deadline = 30s) {
    return run_tool({"sh", "-c", script}, environment(), deadline);
}

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(RunTool, OutputErrorAndExitCodeAreKeptApart) {
    const auto tool = run_shell("echo out; echo err >&2; exit 4");
    ASSERT_TRUE(tool) << tool.error().message;
    EXPECT_EQ(tool->out, "out\n");
    EXPECT_EQ(tool->err, "err\n");
    EXPECT_EQ(tool->exit_code, 4);
    EXPECT_EQ(tool->signal, std::nullopt);
}

TEST(RunTool, ASignalIsNotAnExitCode) {
    const auto tool = run_shell("kill -TERM $$");
    ASSERT_TRUE(tool) << tool.error().message;
    EXPECT_EQ(tool->exit_code, std::nullopt);
    EXPECT_EQ(tool->signal, SIGTERM);
}

TEST(RunTool, TheLanguageIsCAndTheInputIsEmpty) {
    Environment german = environment();
    german.set("LC_ALL", "de_DE.UTF-8");
    const auto tool = run_tool({"sh", "-c", "echo $LC_ALL; cat"}, german, 30s);
    ASSERT_TRUE(tool) << tool.error().message;
    EXPECT_EQ(tool->out, "C\n");
}

TEST(RunTool, AMissingToolIsAnErrorOfTheEnvironment) {
    const auto tool = run_tool({"no-such-tool"}, environment(), 30s);
    ASSERT_FALSE(tool);
    EXPECT_EQ(tool.error().kind, ErrorKind::environment);
    EXPECT_EQ(tool.error().message, "cannot start no-such-tool: No such file or directory");
}

TEST(RunTool, AToolThatHangsIsKilledWithItsGroupAtTheDeadline) {
    const testing::TempDir folder;
    const std::string pid_file = folder.path() / "pid";
    Result<ToolOutput> tool;
    const double seconds = seconds_of([&] {
        tool = run_shell("trap '' TERM INT; sleep 1000 & echo $! > " + pid_file + "; wait; wait",
                         2000ms);
    });
    ASSERT_FALSE(tool);
    EXPECT_EQ(tool.error().kind, ErrorKind::environment);
    EXPECT_EQ(tool.error().message, "sh did not end within 2.0 s; it was killed");
    EXPECT_GE(seconds, 2.0);
    EXPECT_LT(seconds, 20.0);
    pid_t pid = 0;
    ASSERT_TRUE(std::ifstream(pid_file) >> pid);
    // The orphan is a zombie of somebody else's at most; a busy machine takes a moment to get
    // there.
    char state = 'Z';
    for (int round = 0; round < 500; ++round) {
        state = 'Z';
        std::string word;
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        if (stat >> word >> word) stat >> state;
        if (state == 'Z') break;
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_EQ(state, 'Z');
}

TEST(RunTool, AToolThatWritesWithoutEndMeetsItsDeadlineToo) {
    Result<ToolOutput> tool;
    const double seconds = seconds_of([&] { tool = run_tool({"yes"}, environment(), 300ms); });
    ASSERT_FALSE(tool);
    EXPECT_EQ(tool.error().message, "yes did not end within 300 ms; it was killed");
    EXPECT_LT(seconds, 20.0);
}

TEST(RunTool, AStreamIsCutAtSixteenMebibytes) {
    const auto tool = run_shell("head -c 20000000 /dev/zero; echo end >&2");
    ASSERT_TRUE(tool) << tool.error().message;
    EXPECT_EQ(tool->out.size(), std::size_t{16} << 20U);
    EXPECT_EQ(tool->err, "end\n");
    EXPECT_EQ(tool->exit_code, 0);
}

TEST(RunTool, ADaemonThatKeepsThePipesDoesNotDelayTheAnswer) {
    Result<ToolOutput> tool;
    const double seconds = seconds_of([&] { tool = run_shell("echo done; sleep 1000 &"); });
    ASSERT_TRUE(tool) << tool.error().message;
    EXPECT_EQ(tool->out, "done\n");
    EXPECT_EQ(tool->exit_code, 0);
    EXPECT_LT(seconds, 20.0);
}

TEST(RunTool, AToolThatClosesItsStreamsIsWaitedFor) {
    const auto tool = run_shell("echo said; exec >&- 2>&-; sleep 0.3; exit 6");
    ASSERT_TRUE(tool) << tool.error().message;
    EXPECT_EQ(tool->out, "said\n");
    EXPECT_EQ(tool->exit_code, 6);
}

class FindProgram : public ::testing::Test {
  protected:
    FindProgram() {
        std::filesystem::create_directories(folder_.path() / "first" / "tool");  // a folder
        std::filesystem::create_directories(folder_.path() / "second");
        std::filesystem::create_directories(folder_.path() / "third");
        std::ofstream(folder_.path() / "second" / "tool") << "not executable";
        ::chmod((folder_.path() / "second" / "tool").c_str(), 0644);
        std::ofstream(folder_.path() / "third" / "tool") << "#!/bin/sh\n";
        ::chmod((folder_.path() / "third" / "tool").c_str(), 0755);
    }
    std::string path(const std::string& name) const { return folder_.path() / name; }

    testing::TempDir folder_;
};

TEST_F(FindProgram, FoldersAndFilesThatMayNotBeRunAreNoPrograms) {
    Environment environment;
    environment.set("PATH", path("first") + ":" + path("second") + "::" + path("third"));
    EXPECT_EQ(find_program("tool", environment), path("third/tool"));
    environment.set("PATH", path("first") + ":" + path("second"));
    EXPECT_EQ(find_program("tool", environment), std::nullopt);
}

TEST_F(FindProgram, ANameWithASlashIsAPath) {
    EXPECT_EQ(find_program(path("third/tool"), Environment()), path("third/tool"));
    EXPECT_EQ(find_program(path("second/tool"), Environment()), std::nullopt);
}

TEST_F(FindProgram, WithoutAPathTheUsualFoldersAreSought) {
    EXPECT_NE(find_program("sh", Environment()), std::nullopt);
}

}  // namespace
}  // namespace opgauge
