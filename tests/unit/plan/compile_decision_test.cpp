// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/compile_decision.h"

#include "opgauge/base/usable_cores.h"
#include "opgauge/device/backends.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(CompileDecision, AllCoresByDefaultWhereTheBackendCanFork) {
    const CompilePlan plan = *decide_compile({}, **find_backend("cuda"), "record");
    EXPECT_EQ(plan.jobs, usable_cores());
    EXPECT_TRUE(plan.overlap);
    EXPECT_EQ(plan.why, "the cores that this process may use");
}

TEST(CompileDecision, WhatIsAskedForHolds) {
    TuningOptions options;
    options.compile_jobs = 3;
    options.no_overlap = true;
    const CompilePlan plan = *decide_compile(options, **find_backend("rocm"), "replay");
    EXPECT_EQ(plan.jobs, 3);
    EXPECT_FALSE(plan.overlap);
    EXPECT_EQ(plan.why, "--compile-jobs");
}

TEST(CompileDecision, NothingIsCompiledAheadWhereNothingIsTuned) {
    EXPECT_EQ(decide_compile({}, **find_backend("cuda"), "off")->jobs, 1);
}

TEST(CompileDecision, ABackendThatCannotForkCompilesSeriallyAndSaysSo) {
    const Backend& cpu = **find_backend("cpu");
    ASSERT_FALSE(cpu.capabilities().contains(Capability::fork_compile));
    const CompilePlan plan = *decide_compile({}, cpu, "record");
    EXPECT_EQ(plan.jobs, 1);
    EXPECT_EQ(plan.why, "backend cpu has no fork_compile");
    TuningOptions options;
    options.compile_jobs = 8;
    const auto refused = decide_compile(options, cpu, "record");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_EQ(refused.error().message,
              "--compile-jobs 8: backend cpu has no fork_compile; leave it out");
}

}  // namespace
}  // namespace opgauge
