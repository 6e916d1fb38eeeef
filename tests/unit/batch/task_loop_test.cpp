// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/task_loop.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <functional>

namespace opgauge {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A scheduler that plays a list of answers; what it does to the folder is up to a test.
class ScriptedExecutor final : public Executor {
  public:
    using Poll = std::function<Result<std::vector<TaskReport>>(const Job&)>;

    std::string_view name() const override { return "scripted"; }
    Result<int> task_limit() override { return 10; }
    Result<Job> submit(const JobRequest& request) override {
        submitted.push_back(request.tasks);
        return Job{request.name, std::to_string(submitted.size()), request.tasks};
    }
    Result<std::optional<std::string>> find(const std::string& name) override {
        looked_for.push_back(name);
        return found;
    }
    Result<std::vector<TaskReport>> poll(const Job& job) override {
        if (polls.empty()) return fail(ErrorKind::failed, "no more answers");
        const Poll poll = polls.front();
        polls.pop_front();
        return poll(job);
    }
    Result<void> cancel(const Job& job) override {
        cancelled.push_back(job.id);
        return {};
    }

    std::deque<Poll> polls;
    std::vector<std::vector<int>> submitted;
    std::vector<std::string> cancelled;
    std::vector<std::string> looked_for;
    std::optional<std::string> found;
};

class TaskLoopTest : public ::testing::Test {
  protected:
    TaskLoopTest() {
        std::filesystem::create_directory(folder_.path() / "tasks");
        limits_.poll = 1ms;
        limits_.record = 0ms;
    }

    void record(int task, int exit, const std::string& job = "1") {
        TaskRecord record;
        record.task = task;
        record.ended = true;
        record.exit = exit;
        record.job = job;
        ASSERT_TRUE(write_task_record(folder_.path(), record));
    }
    // All tasks of the job are in this state.
    void all(TaskState state, const std::string& reason = "") {
        executor_.polls.push_back([state, reason](const Job& job) {
            std::vector<TaskReport> reports;
            for (const int task : job.tasks) {
                reports.push_back({task, state, "WORD", reason, "n1", std::nullopt, std::nullopt});
            }
            return reports;
        });
    }
    // The tasks do their work.
    void work(int exit = 0) {
        executor_.polls.push_back([this, exit](const Job& job) {
            std::vector<TaskReport> reports;
            for (const int task : job.tasks) {
                record(task, exit, job.id);
                reports.push_back({task, TaskState::completed, "COMPLETED", "", "n1", 0, {}});
            }
            return reports;
        });
    }
    LoopEnd run(int tasks) {
        TaskLoop loop(folder_.path(), tasks, executor_, limits_, clock_, observer_);
        auto end = loop.run();
        if (end) return *end;
        error_ = end.error();
        return {};
    }

    struct Notes final : TaskObserver {
        void on_note(const std::string& text) override { notes.push_back(text); }
        std::vector<std::string> notes;
    };

    testing::TempDir folder_;
    ScriptedExecutor executor_;
    TaskLimits limits_;
    SystemClock clock_;
    Notes observer_;
    std::optional<Error> error_;
};

TEST_F(TaskLoopTest, TasksAreSubmittedOnceAndWatchedToTheirEnds) {
    all(TaskState::waiting);
    all(TaskState::active);
    work(1);
    const LoopEnd end = run(2);
    ASSERT_EQ(error_, std::nullopt) << error_->message;
    ASSERT_EQ(end.tasks.size(), 2U);
    EXPECT_EQ(end.tasks[1].ending, TaskEnding::done);
    EXPECT_EQ(end.tasks[1].exit, 1);
    EXPECT_THAT(executor_.submitted, ElementsAre(ElementsAre(0, 1)));
}

TEST_F(TaskLoopTest, ALostTaskIsSubmittedAgainAndNoOther) {
    executor_.polls.push_back([this](const Job& job) {
        record(0, 0, job.id);
        return std::vector<TaskReport>{{0, TaskState::completed, "COMPLETED", "", "n1", 0, {}},
                                       {1, TaskState::lost_node, "NODE_FAIL", "", "n2", {}, {}}};
    });
    work();
    const LoopEnd end = run(2);
    EXPECT_THAT(executor_.submitted, ElementsAre(ElementsAre(0, 1), ElementsAre(1)));
    EXPECT_EQ(end.tasks[1].ending, TaskEnding::done);
    EXPECT_THAT(observer_.notes, ElementsAre(HasSubstr("task 1 is submitted again: NODE_FAIL")));
}

TEST_F(TaskLoopTest, AfterItsRetriesATaskIsGivenUpWithItsReason) {
    all(TaskState::timed_out, "TimeLimit");
    all(TaskState::timed_out, "TimeLimit");
    const LoopEnd end = run(1);
    EXPECT_EQ(executor_.submitted.size(), 2U);
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::timed_out);
    EXPECT_THAT(end.tasks[0].reason, HasSubstr("WORD (TimeLimit) on n1; see"));
}

TEST_F(TaskLoopTest, ARequeuedTaskIsWatchedFurther) {
    limits_.record = 10s;
    all(TaskState::active);
    all(TaskState::failed);   // its record may be on its way
    all(TaskState::waiting);  // no: Slurm starts it again
    all(TaskState::active);
    work();
    const LoopEnd end = run(1);
    EXPECT_EQ(executor_.submitted.size(), 1U);
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::done);
}

TEST_F(TaskLoopTest, ABatchThatCouldNotBeginIsNotTriedAgain) {
    executor_.polls.push_back([this](const Job& job) {
        record(0, 4, job.id);
        return std::vector<TaskReport>{{0, TaskState::failed, "FAILED", "", "n1", 4, {}}};
    });
    const LoopEnd end = run(1);
    EXPECT_EQ(executor_.submitted.size(), 1U);
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::failed);
    EXPECT_THAT(end.tasks[0].reason, HasSubstr("exit code 4"));
}

TEST_F(TaskLoopTest, ATaskThatWasToldToEndIsSubmittedAgain) {
    executor_.polls.push_back([this](const Job& job) {
        record(0, 143, job.id);
        return std::vector<TaskReport>{{0, TaskState::failed, "FAILED", "", "n1", 143, {}}};
    });
    work();
    const LoopEnd end = run(1);
    EXPECT_EQ(executor_.submitted.size(), 2U);
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::done);
}

TEST_F(TaskLoopTest, ARecordOfAnEarlierJobIsNotThisJobsEnd) {
    record(0, 4, "0");
    all(TaskState::cancelled);
    const LoopEnd end = run(1);
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::not_run);
}

TEST_F(TaskLoopTest, WithoutAnAnswerTheRecordsTell) {
    executor_.polls.push_back([this](const Job& job) -> Result<std::vector<TaskReport>> {
        record(0, 0, job.id);
        return fail(ErrorKind::environment, "squeue: Unable to contact slurm controller");
    });
    const LoopEnd end = run(1);
    ASSERT_EQ(error_, std::nullopt) << error_->message;
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::done);
}

TEST_F(TaskLoopTest, ASchedulerThatIsSilentForLongEndsTheLoopNotTheJob) {
    limits_.no_answer = 0ms;
    executor_.polls.push_back([](const Job&) -> Result<std::vector<TaskReport>> {
        return fail(ErrorKind::environment, "squeue: no answer");
    });
    run(1);
    ASSERT_TRUE(error_);
    EXPECT_THAT(error_->message, HasSubstr("job 1 may still run"));
    EXPECT_TRUE(executor_.cancelled.empty());
}

TEST_F(TaskLoopTest, WhatNeverStartsIsCancelledWithTheSchedulersReason) {
    limits_.pending = 20ms;
    for (int i = 0; i < 500; ++i) all(TaskState::waiting, "PartitionConfig");
    // The scheduler answers the cancel at some later look.
    const auto waiting = executor_.polls.front();
    for (auto& poll : executor_.polls) {
        poll = [this, waiting](const Job& job) -> Result<std::vector<TaskReport>> {
            auto reports = waiting(job);
            if (!executor_.cancelled.empty()) reports->front().state = TaskState::cancelled;
            return reports;
        };
    }
    const LoopEnd end = run(1);
    EXPECT_THAT(executor_.cancelled, ElementsAre("1"));
    EXPECT_EQ(end.tasks[0].ending, TaskEnding::not_run);
    EXPECT_EQ(end.tasks[0].reason, "nothing started within 20 ms; scripted says: PartitionConfig");
}

TEST_F(TaskLoopTest, AJobOfAnEarlierSubmitterIsTakenOver) {
    ASSERT_TRUE(write_jobs(folder_.path(), {{"opgauge-1", "", {0, 1}}}));
    record(0, 0, "7");
    executor_.found = "7";
    all(TaskState::active);  // when it is taken over
    all(TaskState::active);
    work();
    const LoopEnd end = run(2);
    EXPECT_THAT(executor_.looked_for, ElementsAre("opgauge-1"));
    EXPECT_TRUE(executor_.submitted.empty());
    EXPECT_EQ(end.tasks[1].ending, TaskEnding::done);
}

TEST_F(TaskLoopTest, MoreTasksThanAnArrayTakesAreRefused) {
    run(11);
    ASSERT_TRUE(error_);
    EXPECT_EQ(error_->kind, ErrorKind::usage);
}

}  // namespace
}  // namespace opgauge
