// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/process.h"

#include "opgauge/base/environment.h"
#include "opgauge/base/file.h"
#include "opgauge/base/json.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string child_program(const std::string& name) {
    return std::string(OPGAUGE_BINARY_DIR) + "/tests/children/" + name;
}

// A process whose stdout and stderr go to files, and that is reaped at the end.
class SpawnTest : public ::testing::Test {
  protected:
    SpawnTest() { options_.environment = Environment::of_this_process().to_strings(); }
    ~SpawnTest() override {
        for (const int fd : {options_.stdout_fd, options_.stderr_fd}) {
            if (fd >= 0) ::close(fd);
        }
    }

    std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
    void capture() {
        options_.stdout_fd = ::open(file("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        options_.stderr_fd = ::open(file("err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    }
    void write_program(const std::string& name, const std::string& text, mode_t mode) const {
        std::ofstream(file(name)) << text;
        ::chmod(file(name).c_str(), mode);
    }
    // The raw wait status, or -1 where the start failed.
    int run() {
        const auto process = spawn(options_);
        if (!process) {
            error_ = process.error().message;
            return -1;
        }
        int status = 0;
        ::waitpid(process->pid, &status, 0);
        ::close(process->pidfd);
        return status;
    }
    std::string output(const std::string& name) const {
        return read_file(file(name)).value_or(std::string());
    }

    testing::TempDir folder_;
    SpawnOptions options_;
    std::string error_;
};

TEST_F(SpawnTest, OutputAndErrorGoWhereTheyShould) {
    capture();
    options_.argv = {"sh", "-c", "echo to out; echo to err >&2; exit 9"};
    const int status = run();
    EXPECT_EQ(WEXITSTATUS(status), 9);
    EXPECT_EQ(output("out"), "to out\n");
    EXPECT_EQ(output("err"), "to err\n");
}

TEST_F(SpawnTest, WithoutFilesTheStreamsAreTheNullDevice) {
    options_.argv = {"sh", "-c",
                     "for fd in 0 1 2; do test /proc/self/fd/$fd -ef /dev/null || exit 1; done"};
    EXPECT_EQ(run(), 0);
}

TEST_F(SpawnTest, TheEnvironmentIsExactlyTheGivenOne) {
    capture();
    options_.argv = {"/usr/bin/env"};
    options_.environment = {"A=1", "EMPTY=", "SPACED=x y"};
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(output("out"), "A=1\nEMPTY=\nSPACED=x y\n");
}

TEST_F(SpawnTest, TheWorkingDirectoryIsSetBeforeTheProgramStarts) {
    capture();
    options_.argv = {"pwd", "-P"};
    options_.working_directory = folder_.path();
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(output("out"), std::filesystem::canonical(folder_.path()).string() + "\n");
}

TEST_F(SpawnTest, TheProgramIsSoughtOnThePathOfTheChildsEnvironment) {
    write_program("tool", "#!/bin/sh\nexit 21\n", 0755);
    options_.argv = {"tool"};
    options_.environment = {"PATH=/nonexistent:" + folder_.path().string()};
    EXPECT_EQ(WEXITSTATUS(run()), 21);
}

TEST_F(SpawnTest, AFailedExecIsAnErrorOfTheStartNotAnExitCode) {
    options_.argv = {"/nonexistent/program"};
    EXPECT_EQ(run(), -1);
    EXPECT_EQ(error_, "cannot start /nonexistent/program: No such file or directory");
    options_.argv = {"no-such-program-anywhere"};
    EXPECT_EQ(run(), -1);
    EXPECT_EQ(error_, "cannot start no-such-program-anywhere: No such file or directory");
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(SpawnTest, AFileThatMayNotBeRunIsNamedAsSuchEvenWhereThePathGoesOn) {
    write_program("tool", "#!/bin/sh\n", 0644);
    options_.argv = {"tool"};
    options_.environment = {"PATH=" + folder_.path().string() + ":/nonexistent"};
    EXPECT_EQ(run(), -1);
    EXPECT_EQ(error_, "cannot start tool: Permission denied");
}

TEST_F(SpawnTest, AMissingWorkingDirectoryIsNamed) {
    options_.argv = {"true"};
    options_.working_directory = "/nonexistent/folder";
    EXPECT_EQ(run(), -1);
    EXPECT_EQ(error_, "cannot start true in /nonexistent/folder: No such file or directory");
}

TEST_F(SpawnTest, NoProgramIsAnError) {
    EXPECT_EQ(run(), -1);
    EXPECT_EQ(error_, "no program to start");
}

TEST_F(SpawnTest, SignalsGroupAndFilesOfTheChildAreClean) {
    capture();
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    ::signal(SIGUSR2, SIG_IGN);
    const int leaked = ::dup(STDERR_FILENO);
    const int kept = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, leaked + 5);
    options_.argv = {child_program("tell_world")};
    options_.environment.clear();
    options_.kept_fds = {kept};
    const int status = run();
    ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
    ::signal(SIGUSR2, SIG_DFL);
    ::close(leaked);
    ::close(kept);
    ASSERT_EQ(status, 0);
    const auto world = parse_json(output("out"), "the child's words");
    ASSERT_TRUE(world) << world.error().message;
    EXPECT_EQ((*world)["group"], (*world)["pid"]);
    EXPECT_EQ((*world)["blocked"], 0);
    EXPECT_EQ((*world)["not_default"], 0);
    EXPECT_THAT((*world)["fds"], ElementsAre(0, 1, 2, kept));
}

TEST_F(SpawnTest, AStreamThatAlreadyHasItsNumberIsNotLostToCloseOnExec) {
    const int saved = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    const int target = ::open(file("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::dup3(target, STDOUT_FILENO, O_CLOEXEC), STDOUT_FILENO);
    options_.stdout_fd = STDOUT_FILENO;
    options_.argv = {"echo", "heard"};
    const int status = run();
    options_.stdout_fd = -1;
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    ::close(target);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(output("out"), "heard\n");
}

TEST_F(SpawnTest, ThePidfdIsReadableWhenTheProcessEnds) {
    options_.argv = {"sleep", "1000"};
    const auto process = spawn(options_);
    ASSERT_TRUE(process) << process.error().message;
    pollfd fd = {process->pidfd, POLLIN, 0};
    EXPECT_EQ(::poll(&fd, 1, 0), 0);
    ::kill(process->pid, SIGTERM);
    EXPECT_EQ(::poll(&fd, 1, 30'000), 1);
    int status = 0;
    ::waitpid(process->pid, &status, 0);
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
    EXPECT_EQ(::fcntl(process->pidfd, F_GETFD), FD_CLOEXEC);
    ::close(process->pidfd);
}

TEST_F(SpawnTest, TheChildDiesWithTheProcessThatStartedIt) {
    // The orphan comes to us, so that its end can be seen.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t middle = ::fork();
    if (middle == 0) {
        options_.argv = {"sleep", "1000"};
        const auto process = spawn(options_);
        const pid_t pid = process ? process->pid : -1;
        ::_exit(::write(told[1], &pid, sizeof pid) == sizeof pid ? 0 : 1);
    }
    pid_t orphan = -1;
    ASSERT_EQ(::read(told[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
    ASSERT_EQ(::waitpid(middle, nullptr, 0), middle);
    ASSERT_GT(orphan, 0);
    int status = 0;
    EXPECT_EQ(::waitpid(orphan, &status, 0), orphan);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    for (const int fd : told) ::close(fd);
}

TEST_F(SpawnTest, AChildDescendsFromItsParentAndNotTheOtherWayRound) {
    options_.argv = {"sh", "-c", "sleep 1000 & echo $!; wait"};
    int out[2];
    ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
    options_.stdout_fd = out[1];
    const auto child = spawn(options_);
    ASSERT_TRUE(child) << child.error().message;
    char text[32] = {};
    ASSERT_GT(::read(out[0], text, sizeof text - 1), 0);
    const long long grandchild = std::atoll(text);
    const long long self = ::getpid();
    EXPECT_TRUE(is_descendant(grandchild, child->pid));
    EXPECT_TRUE(is_descendant(grandchild, self));
    EXPECT_TRUE(is_descendant(child->pid, self));
    EXPECT_FALSE(is_descendant(self, child->pid));
    EXPECT_FALSE(is_descendant(child->pid, grandchild));
    ::kill(-child->pid, SIGKILL);
    ::waitpid(child->pid, nullptr, 0);
    for (const int fd : {child->pidfd, out[0], out[1]}) ::close(fd);
    options_.stdout_fd = -1;
}

TEST(IsDescendant, OfItselfOfItsParentAndOfNothing) {
    const long long self = ::getpid();
    EXPECT_TRUE(is_descendant(self, self));
    EXPECT_TRUE(is_descendant(self, ::getppid()));
    EXPECT_FALSE(is_descendant(::getppid(), self));
    EXPECT_TRUE(is_descendant(1, 1));
    EXPECT_FALSE(is_descendant(1, self));
    EXPECT_FALSE(is_descendant(9'000'000'001, self));  // no such process
    EXPECT_FALSE(is_descendant(0, self));
    EXPECT_FALSE(is_descendant(-5, self));
}

TEST(StandardFds, ClosedOnesAreFilledAndOthersAreLeftAlone) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(STDIN_FILENO);
        ::close(STDERR_FILENO);
        struct stat before {};
        ::fstat(STDOUT_FILENO, &before);
        open_missing_standard_fds();
        struct stat null {};
        struct stat input {};
        struct stat output {};
        struct stat error {};
        ::stat("/dev/null", &null);
        const bool all_open =
            ::fstat(0, &input) == 0 && ::fstat(1, &output) == 0 && ::fstat(2, &error) == 0;
        const bool right = input.st_rdev == null.st_rdev && error.st_rdev == null.st_rdev &&
                           output.st_ino == before.st_ino && output.st_dev == before.st_dev;
        ::_exit(all_open && right ? 0 : 1);
    }
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace opgauge
