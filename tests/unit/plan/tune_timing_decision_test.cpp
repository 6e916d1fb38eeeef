// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/tune_timing_decision.h"

#include "opgauge/device/backends.h"
#include "opgauge/tuning/tuning_store.h"

#include "tests/support/temp_dir.h"
#include "tests/support/tuned.h"

#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

using testing::TempDir;
using testing::tuned;

class TuneTimingDecision : public ::testing::Test {
  protected:
    Result<TuneTimingPlan> decide(const std::string& option, const char* backend = "cuda") {
        TuningOptions options;
        options.timing = option;
        return decide_tune_timing(options, environment_, **find_backend(backend), plan_);
    }

    // A replay of a store with one winner.
    void replay(const std::string& tuning_timer) {
        Winner winner = tuned(384, 64, 0.005);
        winner.scope.tuning_timer = tuning_timer;
        auto store = TuningStore::open(folder_.path(), DatabaseAccess::create);
        ASSERT_TRUE(store->record(winner, {}));
        plan_.tune.value = "replay";
        plan_.replay.source = {folder_.path().string(), "--from"};
    }

    void identity(const std::string& text) {
        std::ofstream(folder_.path() / "run_identity.json") << text;
    }

    TempDir folder_;
    Environment environment_;
    Plan plan_ = [] {
        Plan plan;
        plan.tune = {"record", "default"};
        return plan;
    }();
};

TEST_F(TuneTimingDecision, FullByDefault) {
    const auto plan = decide("");
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->value, "full");
    EXPECT_EQ(plan->why, "default: the tuner's own timing");
    EXPECT_EQ(plan->warning, "");
}

TEST_F(TuneTimingDecision, TheOptionWinsOverTheVariable) {
    environment_.set("OPGAUGE_TUNE_TIMING", "race");
    EXPECT_EQ(decide("")->value, "race");
    EXPECT_EQ(decide("")->why, "OPGAUGE_TUNE_TIMING");
    EXPECT_EQ(decide("FULL")->value, "full");
    EXPECT_EQ(decide("full")->why, "--tune-timing");
}

TEST_F(TuneTimingDecision, WhatIsUnknownIsAUsageErrorThatNamesItsSource) {
    const auto option = decide("rase");
    ASSERT_FALSE(option);
    EXPECT_EQ(option.error().kind, ErrorKind::usage);
    EXPECT_EQ(option.error().message,
              "--tune-timing: unknown tune timing 'rase'; did you mean 'race'?; known: full, race");
    environment_.set("OPGAUGE_TUNE_TIMING", "quick");
    const auto variable = decide("");
    ASSERT_FALSE(variable);
    EXPECT_EQ(variable.error().message,
              "OPGAUGE_TUNE_TIMING: unknown tune timing 'quick'; known: full, race");
}

TEST_F(TuneTimingDecision, ABackendWithoutTheTimerTimesInFullAndSaysSo) {
    for (const char* backend : {"musa", "ascend"}) {
        const auto plan = decide("race", backend);
        ASSERT_TRUE(plan);
        EXPECT_EQ(plan->value, "full");
        const std::string lacks =
            std::string("backend ") + backend + " has no device_hold, which a race needs";
        EXPECT_EQ(plan->why, "--tune-timing: " + lacks);
        EXPECT_EQ(plan->warning, "--tune-timing race: " + lacks +
                                     "; each configuration is timed in full by the tuner");
    }
    EXPECT_EQ(decide("full", "musa")->warning, "");
    EXPECT_EQ(decide("race", "rocm")->value, "race");
}

TEST_F(TuneTimingDecision, NothingToTimeIsRefusedOnlyWhereItWasAskedFor) {
    plan_.tune = {"off", "--tune off"};
    environment_.set("OPGAUGE_TUNE_TIMING", "race");
    EXPECT_EQ(decide("")->value, "full");
    const auto refused = decide("race");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_EQ(refused.error().message,
              "--tune-timing race: nothing is tuned (--tune off); leave it out");
}

TEST_F(TuneTimingDecision, AReplayTimesAsItsSourceDid) {
    replay("triton.do_bench warmup=25 rep=100");
    EXPECT_EQ(decide("")->value, "full");
    // All tuners of the source had a timer that no race replaces.
    identity(R"({"tuning":{"timing":"race"}})");
    EXPECT_EQ(decide("")->value, "race");
    EXPECT_EQ(decide("")->why, "as the source was");
    EXPECT_EQ(decide("full")->value, "full");
}

TEST_F(TuneTimingDecision, ASourceWithoutIdentityIsJudgedByItsWinners) {
    replay("opgauge.race 1 l2=cold");
    EXPECT_EQ(decide("")->value, "race");
    plan_.replay.source.value = (folder_.path() / "tuning.db").string();
    EXPECT_EQ(decide("")->value, "race");
    // Of an earlier version.
    identity(R"({"tuning":{"mode":"record"}})");
    plan_.replay.source.value = folder_.path().string();
    EXPECT_EQ(decide("")->value, "race");
}

}  // namespace
}  // namespace opgauge
