// SPDX-License-Identifier: Apache-2.0
// Children of a real fork server (python/opgauge_bridge/fork_server.py) under the supervisor.
#include "opgauge/run/fork_server.h"

#include "opgauge/base/tool.h"

#include "tests/support/supervised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace opgauge {
namespace {

using opgauge::testing::Listener;
using opgauge::testing::no_child_is_left;
using opgauge::testing::TempDir;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTests = R"py(
import json, os, signal, subprocess, sys, warm

def say(text):
    line = json.dumps({"type": "log", "seq": 1, "text": str(text)}) + "\n"
    os.write(int(os.environ["OPGAUGE_CHANNEL_FD"]), line.encode())

def test_fails():
    assert False
def test_exits():
    os._exit(7)
def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)
def test_is_stopped():
    say("ready")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pause()
def test_prints():
    print("into the log")
def test_tells():
    say([os.environ["OPGAUGE_VERSION"], os.getppid(), os.getpgid(0) == os.getpid(), os.getcwd()])
def test_tells_who_imported():
    say(warm.importer)
def test_leaves_a_process():
    program = [sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)"]
    subprocess.Popen(program)
)py";

std::string python() {
    const Environment environment = Environment::of_this_process();
    if (const auto named = environment.get_non_empty("OPGAUGE_PYTHON")) return *named;
    const std::string own = std::string(OPGAUGE_SOURCE_DIR) + "/.venv/bin/python";
    return std::filesystem::exists(own) ? own : "python3";
}

bool has_pytest() {
    static const bool has =
        run_tool({python(), "-c", "import pytest"}, Environment::of_this_process(),
                 std::chrono::milliseconds(30'000))
            .value_or(ToolOutput{})
            .exit_code == 0;
    return has;
}

// A corpus of one file and a server that imports its module `warm`.
class ForkServerTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!has_pytest()) GTEST_SKIP() << python() << " has no pytest";
        write("test_it.py", kTests);
        write("warm.py", "import os\nimporter = os.getpid()\n");
        settings_.backend = "fake";
        settings_.imports = {"warm"};
        settings_.tell = [this](const std::string& line) { told_.push_back(line); };
        limits_.interrupt = limits_.terminate = std::chrono::milliseconds(100);
        environment_ = Environment::of_this_process();
        environment_.set("PYTHONPATH", std::string(OPGAUGE_SOURCE_DIR) + "/python");
        environment_.set("PYTHONDONTWRITEBYTECODE", "1");
        environment_.set("OPGAUGE_VERSION", "1.2.3");
    }

    void write(const std::string& name, const std::string& text) {
        std::ofstream(folder_.path() / name) << text;
    }

    ForkServer& server() {
        if (!server_) server_.emplace(settings_);
        return *server_;
    }

    // One test of the file under supervise().
    Outcome run(const std::string& test) {
        ChildSpec spec;
        spec.argv = {python(), "-m", "pytest",           "-q",
                     "-s",     "-p", "no:cacheprovider", "test_it.py::test_" + test};
        spec.environment = environment_.to_strings();
        spec.working_directory = folder_.path();
        spec.log_file = folder_.path() / (test + ".log");
        listener_.messages.clear();
        return supervise(spec, limits_, listener_, server());
    }

    std::string log_of(const std::string& test) const {
        return read_file(folder_.path() / (test + ".log")).value_or("");
    }

    // Told by the child: "" where it told nothing.
    std::string said() const {
        const auto rows = listener_.rows();
        return rows.empty() ? "" : rows.front();
    }

    // The process that the server is now.
    std::string server_pid() {
        const auto pids = server().own_processes();
        return pids.empty() ? "none" : std::to_string(pids.front());
    }

    TempDir folder_;
    ForkServerSettings settings_;
    std::optional<ForkServer> server_;
    std::vector<std::string> told_;
    Environment environment_;
    ChildLimits limits_;
    Listener listener_;
};

int exit_code_of(const Outcome& outcome) {
    const auto* exited = std::get_if<Exited>(&outcome);
    return exited != nullptr ? exited->code : -1;
}

int signal_of(const Outcome& outcome) {
    const auto* signaled = std::get_if<Signaled>(&outcome);
    return signaled != nullptr ? signaled->signal : -1;
}

TEST_F(ForkServerTest, HowAChildEndsIsItsOwn) {
    EXPECT_EQ(exit_code_of(run("prints")), 0);
    ASSERT_EQ(server().problem(), "");
    EXPECT_EQ(exit_code_of(run("fails")), 1);
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_EQ(signal_of(run("dies")), SIGKILL);
    EXPECT_EQ(exit_code_of(run("is_no_test")), 4);
    EXPECT_THAT(log_of("prints"), HasSubstr("into the log"));
    EXPECT_THAT(log_of("is_no_test"), HasSubstr("test_is_no_test"));
    EXPECT_THAT(told_, ElementsAre("starting the fork server"));
}

TEST_F(ForkServerTest, AChildIsForkedFromTheServerAndAChildOfOurs) {
    EXPECT_EQ(exit_code_of(run("tells_who_imported")), 0) << log_of("tells_who_imported");
    EXPECT_EQ(said(), server_pid());
    environment_.set("OPGAUGE_VERSION", "4.5.6");
    EXPECT_EQ(exit_code_of(run("tells")), 0) << log_of("tells");
    EXPECT_EQ(said(), "['4.5.6', " + std::to_string(::getpid()) + ", True, '" +
                          folder_.path().string() + "']");
}

TEST_F(ForkServerTest, AChildIsStoppedAsAnyOther) {
    listener_.answer = [this](const Json&) {
        listener_.stop = "enough";
        return std::nullopt;
    };
    const Outcome outcome = run("is_stopped");
    const auto* stopped = std::get_if<Stopped>(&outcome);
    ASSERT_TRUE(stopped) << to_text(outcome);
    EXPECT_EQ(stopped->by, "enough");
    listener_ = Listener();
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_THAT(told_, SizeIs(1));
}

TEST_F(ForkServerTest, WhatAChildLeavesIsEndedAndTheServerIsNot) {
    EXPECT_EQ(exit_code_of(run("leaves_a_process")), 0) << log_of("leaves_a_process");
    const std::string before = server_pid();
    EXPECT_EQ(exit_code_of(run("tells_who_imported")), 0);
    EXPECT_EQ(said(), before);
    const auto self = std::to_string(::getpid());
    const auto children = read_file("/proc/" + self + "/task/" + self + "/children");
    EXPECT_EQ(std::string(trim(children.value_or(""))), before);
    server_.reset();
    EXPECT_TRUE(no_child_is_left());
}

TEST_F(ForkServerTest, WhereItWasKilledTheChildIsAProcessOfItsOwnAndTheNextIsForkedAgain) {
    run("prints");
    const std::string first = server_pid();
    ::kill(server().own_processes().at(0), SIGKILL);
    EXPECT_EQ(exit_code_of(run("tells_who_imported")), 0);
    EXPECT_NE(said(), first);
    EXPECT_THAT(told_, Contains("the fork server forks no child: it has ended"));
    EXPECT_EQ(exit_code_of(run("tells_who_imported")), 0);
    EXPECT_EQ(said(), server_pid());
    EXPECT_NE(said(), first);
    EXPECT_EQ(server().problem(), "");
}

TEST_F(ForkServerTest, OneThatIsLostAgainAndAgainIsNotStartedAnyMore) {
    for (int i = 0; i < 3; ++i) {
        run("prints");
        ASSERT_THAT(server().own_processes(), SizeIs(1));
        ::kill(server().own_processes().at(0), SIGKILL);
        EXPECT_EQ(exit_code_of(run("exits")), 7);
    }
    EXPECT_EQ(server().problem(), "3 of them were lost, the last: it has ended");
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_THAT(server().own_processes(), IsEmpty());
}

TEST_F(ForkServerTest, WhatItRefusesIsAProcessOfItsOwn) {
    run("prints");
    environment_.set("OTHER", "1");
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_THAT(told_,
                ElementsAre("starting the fork server",
                            "the fork server forks no child: its variable OTHER is another"));
    EXPECT_THAT(server().own_processes(), SizeIs(1));
}

TEST_F(ForkServerTest, AnImportThatFailsLeavesProcessesOfTheirOwn) {
    settings_.imports = {"warm", "nothing_like_it"};
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_EQ(server().problem(),
              "cannot import nothing_like_it: ModuleNotFoundError: No module named "
              "'nothing_like_it'");
    EXPECT_THAT(told_,
                ElementsAre("starting the fork server", "no fork server: " + server().problem()));
    EXPECT_TRUE(no_child_is_left());
}

TEST_F(ForkServerTest, AnImportThatUsesTheDeviceLeavesProcessesOfTheirOwn) {
    write("warm.py", "import os\nos.environ['OPGAUGE_FAKE_IN_USE'] = 'it has a context'\n");
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_EQ(server().problem(), "the import has initialised the device: it has a context");
}

TEST_F(ForkServerTest, OneThatDoesNotGetReadyIsGivenUp) {
    write("slow.py", "import time\ntime.sleep(600)\n");
    settings_.imports = {"slow"};
    settings_.ready = std::chrono::milliseconds(50);
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_EQ(server().problem(), "it does not answer in time");
    EXPECT_TRUE(no_child_is_left());
}

TEST_F(ForkServerTest, OneThatCannotBeStartedIsAProblem) {
    environment_.set("PYTHONPATH", "/absent");
    EXPECT_EQ(exit_code_of(run("exits")), 7);
    EXPECT_EQ(server().problem(), "it has ended");
}

}  // namespace
}  // namespace opgauge
