// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/rerun.h"

#include "opgauge/base/file.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

Json node(const char* id, std::vector<std::string> marks) {
    return {{"id", id}, {"marks", std::move(marks)}};
}

class Rerun : public ::testing::Test {
  protected:
    Rerun() {
        run_.directory = folder_.path();
        run_.identity = {{"run_id", "mm-1"},
                         {"tuning", {{"mode", "record"}, {"winners_digest", "abcd"}}},
                         {"settings",
                          {{"stopping", "interval"},
                           {"precision", 0.02},
                           {"min_samples", 7},
                           {"max_time_s", 1.5}}}};
        plan_ = {{"corpus", {{"name", "flaggems"}, {"root", "/corpus"}}},
                 {"backend", {{"value", "fake"}}},
                 {"device", {{"token", "0"}, {"uuid", "FAKE-7"}}},
                 {"nodes", {{"value", {node("test_mm.py::test_mm", {"mm"})}}}},
                 {"timer", {{"value", "event"}, {"settings", {{"l2", "hot"}}}, {"heat", "burst"}}},
                 {"shapes", {{"value", "compact"}}},
                 {"settings", {{"level", "core"}, {"dtypes", {"float16"}}, {"warmup_ms", 5}}},
                 {"command", {"/usr/bin/python3", "-m", "pytest"}}};
    }
    Result<PlanOptions> options(const NodeRequest& asked = {}) {
        EXPECT_TRUE(write_file_atomically(folder_.path() / "plan.json", to_text(plan_)));
        return options_of_run(run_, asked);
    }

    testing::TempDir folder_;
    RecordedRun run_;
    Json plan_;
};

TEST_F(Rerun, AsksForWhatThePlanHad) {
    const PlanOptions asked = *options();
    EXPECT_EQ(asked.corpus, "/corpus");
    EXPECT_EQ(asked.request.node, "test_mm.py::test_mm");
    EXPECT_EQ(asked.backend, "fake");
    EXPECT_EQ(asked.devices, "FAKE-7");
    EXPECT_EQ(asked.timer, "event");
    EXPECT_EQ(asked.l2, "hot");
    EXPECT_EQ(asked.heat, "burst");
    EXPECT_EQ(asked.shapes, "compact");
    EXPECT_EQ(asked.level, "");
    EXPECT_EQ(asked.dtypes, std::vector<std::string>{"float16"});
    EXPECT_EQ(asked.warmup_ms, 5);
    EXPECT_EQ(asked.python, "/usr/bin/python3");
}

TEST_F(Rerun, ReplaysTheRunsOwnWinnersWhereItHasSome) {
    EXPECT_EQ(options()->tuning.mode, "replay");
    EXPECT_EQ(options()->tuning.from, folder_.path().string());
    run_.identity["tuning"]["winners_digest"] = nullptr;
    EXPECT_EQ(options()->tuning.mode, "record");
    EXPECT_EQ(options()->tuning.from, "");
    run_.identity["tuning"]["mode"] = "off";
    EXPECT_EQ(options()->tuning.mode, "off");
}

TEST_F(Rerun, WhatTheCommandLineNamedComesFirst) {
    NodeRequest asked;
    asked.operator_ = "bmm";
    EXPECT_EQ(options(asked)->request.operator_, "bmm");
    EXPECT_EQ(options(asked)->request.node, "");
}

TEST_F(Rerun, SeveralNodesAreNamedByTheMarkThatTheyShare) {
    plan_["nodes"]["value"] = {node("a.py::a", {"out", "mm"}), node("b.py::b", {"mm"})};
    EXPECT_EQ(options()->request.operator_, "mm");
    plan_["nodes"]["value"] = {node("a.py::a", {"mm"}), node("b.py::b", {"bmm"})};
    EXPECT_NE(options().error().message.find("names no node"), std::string::npos);
}

TEST_F(Rerun, WithoutAPlanNothingIsGuessed) {
    EXPECT_EQ(options_of_run(run_, {}).error().kind, ErrorKind::usage);
}

TEST_F(Rerun, StopsAsTheRunDid) {
    const StoppingSettings stopping = stopping_of_run(run_);
    EXPECT_EQ(stopping.precision, 0.02);
    EXPECT_EQ(stopping.min_samples, 7);
    EXPECT_EQ(stopping.max_time_s, 1.5);
}

TEST(SameSetup, EachDifferingFactIsNamedWithBothValues) {
    const Json then = {{"run_id", "mm-1"}, {"driver", "1.0"}, {"software", {{"torch", "2.9"}}}};
    EXPECT_TRUE(check_same_setup(then, then));
    EXPECT_TRUE(check_same_setup(nullptr, then));
    Json now = then;
    now["driver"] = "2.0";
    const auto refused = check_same_setup(then, now);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_NE(refused.error().message.find("driver (then: 1.0, now: 2.0)"), std::string::npos);
    now = then;
    now["software"]["torch"] = nullptr;  // the child may tell it
    EXPECT_TRUE(check_same_setup(then, now));
}

}  // namespace
}  // namespace opgauge
