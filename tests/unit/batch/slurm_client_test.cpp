// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_client.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// Slurm's commands as scripts in a folder; each appends its words to `calls`.
class Commands {
  public:
    void add(const std::string& name, const std::string& body) {
        const auto file = folder_.path() / name;
        std::ofstream(file) << "#!/bin/sh\necho " << name << " \"$@\" >> " << calls().string()
                            << "\n"
                            << body << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    std::filesystem::path calls() const { return folder_.path() / "calls"; }
    std::filesystem::path path() const { return folder_.path(); }
    int count(const std::string& name) const {
        std::ifstream file(calls());
        int count = 0;
        for (std::string line; std::getline(file, line);) count += line.starts_with(name) ? 1 : 0;
        return count;
    }
    SlurmExecutor executor() const {
        Environment environment;
        environment.set("PATH", folder_.path().string() + ":/usr/bin:/bin");
        return SlurmExecutor({}, environment, {5s, 3s, 1ms});
    }

  private:
    testing::TempDir folder_;
};

const JobRequest kRequest = {"opgauge-1", "/batches/a", "/batches/a/tasks/task.sh", {0, 1, 2}};
constexpr const char* kNoAnswer =
    "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' "
    ">&2; exit 1";

TEST(SlurmClient, TheEnvironmentHoldsNoOptionsOfSlurmAndNoVisibility) {
    const Environment environment = slurm_environment(Environment({
        {"SLURM_CONF", "/c"},
        {"SLURM_GPUS_PER_TASK", "1"},
        {"SBATCH_PARTITION", "x"},
        {"CUDA_VISIBLE_DEVICES", "7"},
        {"ROCR_VISIBLE_DEVICES", "7"},
        {"OPGAUGE_CORPUS", "/corpus"},
    }));
    EXPECT_EQ(environment.to_strings(),
              (std::vector<std::string>{"OPGAUGE_CORPUS=/corpus", "SLURM_CONF=/c"}));
}

TEST(SlurmClient, AJobIsOneArrayWithItsOwnNameAndALogATask) {
    SlurmOptions options;
    options.partition = "debug";
    options.gres = "gpu:a:1";
    options.minutes = 30;
    options.at_once = 4;
    options.more = {"--exclusive"};
    JobRequest request = kRequest;
    request.folder = "/batches/100%";
    const auto words = sbatch_words(options, request);
    EXPECT_THAT(words, IsSupersetOf({"--parsable", "--job-name=opgauge-1", "--array=0-2%4",
                                     "--output=/batches/100%%/tasks/%3a.log", "--gres=gpu:a:1",
                                     "--partition=debug", "--time=30", "--exclusive"}));
    EXPECT_EQ(words.back(), "/batches/a/tasks/task.sh");
}

TEST(SlurmClient, ALostReplyIsLookedUpByNameBeforeAnotherSubmit) {
    Commands commands;
    commands.add("sbatch", kNoAnswer);
    commands.add("squeue", "echo 17; echo 17");
    auto slurm = commands.executor();
    const auto job = slurm.submit(kRequest);
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->id, "17");
    EXPECT_EQ(commands.count("sbatch"), 1);
}

TEST(SlurmClient, WhatIsNotFoundInTwoLooksIsSubmittedAgain) {
    Commands commands;
    commands.add("sbatch", "f=" + (commands.path() / "once").string() +
                               "; [ -e $f ] || { touch $f; " + kNoAnswer + "; }; echo '18;east'");
    commands.add("squeue", "exit 0");
    auto slurm = commands.executor();
    const auto job = slurm.submit(kRequest);
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->id, "18");
    EXPECT_EQ(commands.count("squeue"), 2);
}

TEST(SlurmClient, ASubmitWhoseFateIsUnknownIsNotRepeated) {
    Commands commands;
    commands.add("sbatch", kNoAnswer);
    commands.add("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
    auto slurm = commands.executor();
    const auto job = slurm.submit(kRequest);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().kind, ErrorKind::environment);
    EXPECT_THAT(job.error().message, HasSubstr("squeue -n opgauge-1"));
    EXPECT_EQ(commands.count("sbatch"), 1);
}

TEST(SlurmClient, ARefusalIsNotTriedAgain) {
    Commands commands;
    commands.add("sbatch", "echo 'Requested node configuration is not available' >&2; exit 1");
    auto slurm = commands.executor();
    const auto job = slurm.submit(kRequest);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().kind, ErrorKind::usage);
    EXPECT_EQ(commands.count("sbatch"), 1);
}

TEST(SlurmClient, OfASubmitThatWasTakenTwiceOneIsCancelled) {
    Commands commands;
    commands.add("squeue", "echo 17; echo 18");
    commands.add("scancel", "[ $1 = 18 ]");
    auto slurm = commands.executor();
    const auto found = slurm.find("opgauge-1");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(**found, "17");
    EXPECT_EQ(commands.count("scancel"), 1);
}

TEST(SlurmClient, AfterTheRecordIsGoneTheLastStateAndTheAccountsTell) {
    Commands commands;
    commands.add("squeue",
                 "printf '0|COMPLETED|0|None|n1|\\n1|RUNNING|0|None|n1|\\n"
                 "2|RUNNING|0|None|n2|\\n'");
    auto slurm = commands.executor();
    const Job job = {"opgauge-1", "13", {0, 1, 2}};
    ASSERT_TRUE(slurm.poll(job));
    commands.add("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    commands.add("sacct", "echo '13_1|FAILED|3:0|n1'");
    const auto reports = slurm.poll(job);
    ASSERT_TRUE(reports) << reports.error().message;
    EXPECT_EQ((*reports)[0].state, TaskState::completed);
    EXPECT_EQ((*reports)[1].state, TaskState::failed);
    EXPECT_EQ((*reports)[1].exit, 3);
    EXPECT_EQ((*reports)[2].state, TaskState::gone);
}

TEST(SlurmClient, AControllerThatIsDownIsNoEndOfATask) {
    Commands commands;
    commands.add("squeue",
                 "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1");
    auto slurm = commands.executor();
    const auto reports = slurm.poll({"opgauge-1", "13", {0}});
    ASSERT_FALSE(reports);
    EXPECT_EQ(reports.error().kind, ErrorKind::environment);
}

TEST(SlurmClient, TheArrayLimitComesFromTheSite) {
    Commands commands;
    commands.add("scontrol", "echo 'MaxArraySize            = 1001'");
    EXPECT_EQ(commands.executor().task_limit(), 1001);
    commands.add("scontrol", "echo 'MaxArraySize = 0'");
    EXPECT_FALSE(commands.executor().task_limit());
}

}  // namespace
}  // namespace opgauge
