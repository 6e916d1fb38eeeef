// SPDX-License-Identifier: Apache-2.0
// How a child ends, and that its outcome says so.
#include "opgauge/run/supervisor.h"

#include "tests/support/supervised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace opgauge {
namespace {

using opgauge::testing::no_child_is_left;
using opgauge::testing::Supervised;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Supervisor, AnExitCodeIsAnExitCode) {
    Supervised child({"exit_with", "3"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 3);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, OutcomeNamesTheSignalThatEndedTheChild) {
    Supervised child({"crash"});
    child.run();
    ASSERT_TRUE(child.ended_as<Signaled>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Signaled>()->signal, SIGSEGV);
    EXPECT_FALSE(child.ended_as<Signaled>()->core);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1", "row 2"));
}

TEST(Supervisor, AnAbortIsASignalToo) {
    Supervised child({"abort"});
    child.run();
    ASSERT_TRUE(child.ended_as<Signaled>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Signaled>()->signal, SIGABRT);
    EXPECT_THAT(child.listener.rows(), ElementsAre("row 1"));
}

// Whether this machine writes cores at all, seen by a process that crashes without us.
bool machine_dumps_core(const std::filesystem::path& folder) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (::chdir(folder.c_str()) != 0) ::_exit(1);
        std::signal(SIGSEGV, SIG_DFL);
        ::raise(SIGSEGV);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WCOREDUMP(status);
}

TEST(Supervisor, ACoreDumpIsAFlagAndDoesNotChangeTheSignal) {
    rlimit former{};
    ::getrlimit(RLIMIT_CORE, &former);
    const rlimit raised{former.rlim_max, former.rlim_max};
    ::setrlimit(RLIMIT_CORE, &raised);
    Supervised child({"crash", "core"});
    const bool expected = machine_dumps_core(child.folder.path());
    child.run();
    ::setrlimit(RLIMIT_CORE, &former);
    ASSERT_TRUE(child.ended_as<Signaled>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Signaled>()->signal, SIGSEGV);
    EXPECT_EQ(child.ended_as<Signaled>()->core, expected);
}

TEST(Supervisor, AProgramThatIsNotThereIsNotStarted) {
    Supervised child({"sleep"});
    child.spec.argv = {"/nonexistent/program"};
    child.run();
    ASSERT_TRUE(child.ended_as<NotStarted>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<NotStarted>()->reason, "cannot start /nonexistent/program in " +
                                                        child.folder.path().string() +
                                                        ": No such file or directory");
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, ALogThatCannotBeWrittenStartsNothing) {
    Supervised child({"sleep"});
    child.spec.log_file = child.folder.path() / "missing" / "child.log";
    child.run();
    ASSERT_TRUE(child.ended_as<NotStarted>()) << to_text(child.outcome);
    EXPECT_THAT(child.ended_as<NotStarted>()->reason, HasSubstr("missing/child.log"));
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, AGrandchildThatHoldsTheChannelDelaysTheEndByTheDrainDeadlineOnly) {
    Supervised child({"hold_pipe"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 0);
    EXPECT_LT(child.seconds, 10.0);
    ASSERT_EQ(child.listener.messages.size(), 2U);
    const auto grandchild = get_optional<pid_t>(child.listener.messages[0], "pid");
    ASSERT_TRUE(grandchild);
    EXPECT_EQ(::kill(*grandchild, 0), -1);
    EXPECT_EQ(errno, ESRCH);
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, AGrandchildThatLeftTheGroupIsKilledToo) {
    Supervised child({"hold_pipe", "leave_group"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    ASSERT_EQ(child.listener.messages.size(), 2U);
    const auto grandchild = get_optional<pid_t>(child.listener.messages[0], "pid");
    ASSERT_TRUE(grandchild);
    EXPECT_EQ(::kill(*grandchild, 0), -1);
    EXPECT_EQ(errno, ESRCH);
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, TwentyDescendantsInAndOutsideTheGroupAreAllGone) {
    Supervised child({"fork_bomb"});
    child.run();
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    EXPECT_EQ(child.ended_as<Exited>()->code, 7);
    EXPECT_EQ(child.listener.messages.size(), 20U);
    for (const auto& message : child.listener.messages) {
        EXPECT_EQ(::kill(get_optional<pid_t>(message, "pid").value_or(::getpid()), 0), -1);
    }
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, AThrowingHandlerLeavesNoChildBehind) {
    Supervised child({"ignore_signals", "all"});
    child.listener.answer = [](const Json&) -> std::optional<Json> {
        throw std::logic_error("a defect");
    };
    EXPECT_THROW(child.run(), std::logic_error);
    EXPECT_TRUE(no_child_is_left());
}

TEST(Supervisor, AChildIsBornInItsOwnGroupWithDefaultSignalsAndOnlyItsChannelOpen) {
    Supervised child({"tell_world"});
    const int leaked = ::dup(STDERR_FILENO);  // without close-on-exec
    child.run();
    ::close(leaked);
    ASSERT_TRUE(child.ended_as<Exited>()) << to_text(child.outcome);
    ASSERT_EQ(child.listener.messages.size(), 1U);
    const Json& world = child.listener.messages[0];
    EXPECT_EQ(world["group"], world["pid"]);
    EXPECT_EQ(world["blocked"], 0);
    EXPECT_EQ(world["not_default"], 0);
    ASSERT_EQ(world["fds"].size(), 4U) << world.dump();
    EXPECT_GT(world["fds"][3].get<int>(), 2);
}

}  // namespace
}  // namespace opgauge
