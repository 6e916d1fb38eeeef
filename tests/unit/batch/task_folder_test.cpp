// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/task_folder.h"

#include "opgauge/base/file.h"
#include "opgauge/base/tool.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempDir;

TaskPlan plan_in(const std::filesystem::path& folder) {
    TaskPlan plan;
    plan.program = "/bin/echo";
    plan.working_directory = folder.string();
    plan.backend = "fake";
    plan.gres = "npu:1";
    plan.options = {"--timer", "graph"};
    return plan;
}

TEST(TaskFolder, WhatTasksNeedIsWrittenAndReadBack) {
    const TempDir folder;
    ASSERT_TRUE(write_task_plan(folder.path(), plan_in(folder.path()), {{"mm", "add"}, {"relu"}}));
    const auto plan = read_task_plan(folder.path());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->tasks, 2);
    EXPECT_EQ(plan->program, "/bin/echo");
    EXPECT_EQ(plan->backend, "fake");
    EXPECT_EQ(plan->gres, "npu:1");
    EXPECT_THAT(plan->options, ElementsAre("--timer", "graph"));
    EXPECT_EQ(*read_file(folder.path() / "tasks/000.ops"), "mm\nadd\n");
    EXPECT_EQ(*read_file(folder.path() / "tasks/001.ops"), "relu\n");
}

TEST(TaskFolder, ALineBreakInANameIsRefused) {
    const TempDir folder;
    const auto done = write_task_plan(folder.path(), plan_in(folder.path()), {{"mm\nadd"}});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::usage);
    EXPECT_THAT(done.error().message, HasSubstr("mm\\x0aadd"));
}

TEST(TaskFolder, TheScriptRunsInItsFolderWhateverItsName) {
    const TempDir parent;
    const auto folder = parent.path() / "it's $(a) \"folder\"";
    ASSERT_TRUE(std::filesystem::create_directory(folder));
    ASSERT_TRUE(write_task_plan(folder, plan_in(folder), {{"mm"}}));
    const auto done = run_tool({"/bin/sh", task_script_file(folder).string()},
                               Environment::of_this_process(), std::chrono::seconds(20));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->out, "batch-task " + folder.string() + "\n");
}

TEST(TaskFolder, TheScriptSaysWhatItsNodeDoesNotSee) {
    const TempDir folder;
    TaskPlan plan = plan_in(folder.path());
    plan.working_directory = "/absent/folder";
    ASSERT_TRUE(write_task_plan(folder.path(), plan, {{"mm"}}));
    const auto done = run_tool({"/bin/sh", task_script_file(folder.path()).string()},
                               Environment::of_this_process(), std::chrono::seconds(20));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->exit_code, 4);
    EXPECT_THAT(done->err, HasSubstr("does not see the folder /absent/folder"));
}

TEST(TaskFolder, ARecordTellsItsEnd) {
    const TempDir folder;
    std::filesystem::create_directory(folder.path() / "tasks");
    EXPECT_EQ(read_task_record(folder.path(), 3), std::nullopt);
    TaskRecord record;
    record.task = 3;
    record.job = "17";
    record.node = "n1";
    record.restarts = 1;
    ASSERT_TRUE(write_task_record(folder.path(), record));
    EXPECT_FALSE(read_task_record(folder.path(), 3)->ended);
    record.ended = true;
    record.exit = 1;
    ASSERT_TRUE(write_task_record(folder.path(), record));
    const auto read = read_task_record(folder.path(), 3);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->ended);
    EXPECT_EQ(read->exit, 1);
    EXPECT_EQ(read->signal, std::nullopt);
    EXPECT_EQ(read->job, "17");
    EXPECT_EQ(read->restarts, 1);
}

TEST(TaskFolder, JobsKeepTheirNameBeforeTheirId) {
    const TempDir folder;
    EXPECT_TRUE(read_jobs(folder.path())->empty());
    ASSERT_TRUE(write_jobs(folder.path(), {{"opgauge-1", "", {0, 2}}}));
    const auto jobs = read_jobs(folder.path());
    ASSERT_TRUE(jobs);
    ASSERT_EQ(jobs->size(), 1U);
    EXPECT_EQ(jobs->front().name, "opgauge-1");
    EXPECT_EQ(jobs->front().id, "");
    EXPECT_THAT(jobs->front().tasks, ElementsAre(0, 2));
}

TEST(TaskFolder, TasksAreOfAboutEqualTimeLongestFirst) {
    const auto chunks =
        make_chunks({{"a", 100}, {"b", 700}, {"c", 200}, {"d", 400}, {"e", 400}}, {900, 10});
    EXPECT_THAT(chunks, ElementsAre(ElementsAre("b", "c"), ElementsAre("d", "e", "a")));
}

TEST(TaskFolder, TheMostTasksHoldAndNoneIsEmpty) {
    EXPECT_EQ(make_chunks({{"a", 900}, {"b", 900}, {"c", 900}}, {900, 2}).size(), 2U);
    EXPECT_EQ(make_chunks({{"a", 9e9}}, {900, 1'000}).size(), 1U);
    EXPECT_EQ(make_chunks({{"a", 0}, {"b", 0}}, {900, 1'000}).size(), 1U);
    EXPECT_TRUE(make_chunks({}, {900, 1'000}).empty());
}

}  // namespace
}  // namespace opgauge
