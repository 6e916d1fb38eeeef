// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/stack_dump.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(StackDump, FaulthandlerTellsTheMainThreadLast) {
    EXPECT_EQ(innermost_frame("Thread 0x7f (most recent call first):\n"
                              "  File \"/usr/lib/threading.py\", line 320 in wait\n"
                              "\n"
                              "Current thread 0x7e (most recent call first):\n"
                              "  File \"/c/test_mm.py\", line 33 in get_latency\n"
                              "  File \"/c/base.py\", line 7 in run\n"),
              "test_mm.py:33 in get_latency");
}

TEST(StackDump, PySpyTellsTheMainThreadByItsName) {
    EXPECT_EQ(innermost_frame("Process 7: python3 -m pytest\n"
                              "Thread 7 (idle): \"MainThread\"\n"
                              "    launch (triton/jit.py:120)\n"
                              "    run (base.py:7)\n"
                              "Thread 8 (idle): \"Thread-1\"\n"
                              "    wait (threading.py:320)\n"),
              "jit.py:120 in launch");
}

TEST(StackDump, AnythingElseIsNoDump) {
    EXPECT_EQ(innermost_frame(""), std::nullopt);
    EXPECT_EQ(innermost_frame("Thread 0x7f (most recent call first):\n  <no Python frame>\n"),
              std::nullopt);
    EXPECT_EQ(innermost_frame("  File \"a.py\", line 1 in f\n"), std::nullopt);
}

}  // namespace
}  // namespace opgauge
