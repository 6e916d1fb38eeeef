// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/outcome.h"

#include <gtest/gtest.h>

#include <csignal>

namespace opgauge {
namespace {

TEST(Outcome, EachKindSaysWhatHappened) {
    EXPECT_EQ(to_text(Exited{0}), "exited with 0");
    EXPECT_EQ(to_text(Exited{137}), "exited with 137");
    EXPECT_EQ(to_text(Signaled{SIGSEGV, false}), "was killed by signal 11 (SIGSEGV)");
    EXPECT_EQ(to_text(Signaled{SIGABRT, true}), "was killed by signal 6 (SIGABRT), core dumped");
    EXPECT_EQ(to_text(TimedOut{"timeout 600 s"}), "was ended after its limit (timeout 600 s)");
    EXPECT_EQ(to_text(Stopped{"interrupted by SIGINT", SIGINT}),
              "was stopped: interrupted by SIGINT");
    EXPECT_EQ(to_text(NotStarted{"cannot start x: No such file or directory"}),
              "could not be started: cannot start x: No such file or directory");
}

TEST(Outcome, ASignalWithoutANameKeepsItsNumber) {
    EXPECT_EQ(to_text(Signaled{SIGRTMIN + 3, false}),
              "was killed by signal " + std::to_string(SIGRTMIN + 3));
}

}  // namespace
}  // namespace opgauge
