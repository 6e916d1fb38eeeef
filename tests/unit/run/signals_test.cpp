// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/signals.h"

#include <gtest/gtest.h>

#include <poll.h>

#include <cerrno>
#include <ctime>

namespace opgauge {
namespace {

class SignalGuardTest : public ::testing::Test {
  protected:
    SignalGuardTest() { SignalGuard::reset(); }
    ~SignalGuardTest() override { SignalGuard::reset(); }

    static void wait_with_open_mask() {
        const timespec now{0, 0};
        ::ppoll(nullptr, 0, &now, &SignalGuard::wait_mask());
    }
    static bool is_ignored(int number) {
        struct sigaction action {};
        ::sigaction(number, nullptr, &action);
        return action.sa_handler == SIG_IGN;
    }
    static bool is_default(int number) {
        struct sigaction action {};
        ::sigaction(number, nullptr, &action);
        return action.sa_handler == SIG_DFL;
    }
};

TEST_F(SignalGuardTest, ASignalIsHeldUntilTheWaitLetsItIn) {
    const SignalGuard guard;
    ::raise(SIGTERM);
    EXPECT_EQ(SignalGuard::count(), 0);
    wait_with_open_mask();
    EXPECT_EQ(SignalGuard::count(), 1);
    EXPECT_EQ(SignalGuard::received(), SIGTERM);
}

TEST_F(SignalGuardTest, ASignalThatNobodyWaitedForIsLetInAndEndsNothing) {
    {
        const SignalGuard guard;
        ::raise(SIGINT);
    }
    EXPECT_EQ(SignalGuard::count(), 1);
    EXPECT_EQ(SignalGuard::received(), SIGINT);
}

TEST_F(SignalGuardTest, TheFirstSignalIsRememberedAndTheOthersAreCounted) {
    const SignalGuard guard;
    ::raise(SIGHUP);
    wait_with_open_mask();
    ::raise(SIGINT);
    wait_with_open_mask();
    ::raise(SIGINT);
    wait_with_open_mask();
    EXPECT_EQ(SignalGuard::received(), SIGHUP);
    EXPECT_EQ(SignalGuard::count(), 3);
}

TEST_F(SignalGuardTest, ASignalThatTheCallerIgnoresStaysIgnored) {
    ::signal(SIGHUP, SIG_IGN);  // as nohup does
    {
        const SignalGuard guard;
        EXPECT_TRUE(is_ignored(SIGHUP));
        ::raise(SIGHUP);
        wait_with_open_mask();
        EXPECT_EQ(SignalGuard::count(), 0);
    }
    EXPECT_TRUE(is_ignored(SIGHUP));
    ::signal(SIGHUP, SIG_DFL);
}

TEST_F(SignalGuardTest, AfterItsEndTheFormerStateIsBack) {
    { const SignalGuard guard; }
    EXPECT_TRUE(is_default(SIGINT));
    EXPECT_TRUE(is_default(SIGTERM));
    EXPECT_TRUE(is_default(SIGPIPE));
    sigset_t mask;
    ::sigprocmask(SIG_BLOCK, nullptr, &mask);
    EXPECT_EQ(::sigismember(&mask, SIGINT), 0);
}

TEST_F(SignalGuardTest, ABrokenPipeIsAnErrorOfTheWriter) {
    const SignalGuard guard;
    EXPECT_TRUE(is_ignored(SIGPIPE));
}

}  // namespace
}  // namespace opgauge
