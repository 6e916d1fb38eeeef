// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Printed by squeue of Slurm 22.05.8 (kQueueFields).
constexpr const char* kQueue2205 =
    "2|FAILED|9|JobLaunchFailure|n2|\n"
    "1|FAILED|768|NonZeroExitCode|n1|\n"
    "3|RUNNING|0|None|n2|\n"
    "0|COMPLETED|0|None|n1|\n"
    "7|PENDING|0|ReqNodeNotAvail,_UnavailableNodes:n1||\n";

TEST(SlurmStates, ATaskHasStateReasonNodeAndRawExit) {
    const auto tasks = read_queue(kQueue2205);
    ASSERT_EQ(tasks.size(), 5U);
    EXPECT_EQ(tasks[0].task, 2);
    EXPECT_EQ(tasks[0].state, TaskState::failed);
    EXPECT_EQ(tasks[0].signal, 9);
    EXPECT_EQ(tasks[0].exit, std::nullopt);
    EXPECT_EQ(tasks[1].exit, 3);
    EXPECT_EQ(tasks[1].signal, std::nullopt);
    EXPECT_EQ(tasks[1].reason, "NonZeroExitCode");
    EXPECT_EQ(tasks[2].state, TaskState::active);
    EXPECT_EQ(tasks[2].exit, std::nullopt);
    EXPECT_EQ(tasks[3].state, TaskState::completed);
    EXPECT_EQ(tasks[3].exit, 0);
    EXPECT_EQ(tasks[3].reason, "");
    EXPECT_EQ(tasks[4].state, TaskState::waiting);
    EXPECT_EQ(tasks[4].reason, "ReqNodeNotAvail,_UnavailableNodes:n1");
    EXPECT_EQ(tasks[4].node, "");
}

TEST(SlurmStates, LaterVersionsPrintTheExitWithAColon) {
    const auto tasks = read_queue("1|FAILED|3:0|NonZeroExitCode|n1|\n2|FAILED|0:9|x|n1|\n");
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[0].exit, 3);
    EXPECT_EQ(tasks[1].signal, 9);
}

TEST(SlurmStates, AnUnexpandedRangeIsOneReportATask) {
    const auto tasks = read_queue("8-10,12%2|PENDING|0|Resources||\n");
    ASSERT_EQ(tasks.size(), 4U);
    EXPECT_EQ(tasks[3].task, 12);
    EXPECT_EQ(tasks[3].state, TaskState::waiting);
}

TEST(SlurmStates, LinesOfAnotherFormAreLeftOut) {
    EXPECT_THAT(read_queue("squeue: warning\nN/A|RUNNING|0|None|n1|\n|||||\n\n"), IsEmpty());
}

TEST(SlurmStates, AnUnknownStateIsNoEnd) {
    EXPECT_EQ(task_state("COMPLETING"), TaskState::active);
    EXPECT_EQ(task_state("SOME_NEW_WORD"), TaskState::active);
    EXPECT_EQ(task_state("CANCELLED by 1000"), TaskState::cancelled);
    EXPECT_EQ(task_state("CANCELLED+"), TaskState::cancelled);
    EXPECT_EQ(task_state("PREEMPTED"), TaskState::lost_node);
}

TEST(SlurmStates, TheErrnoOfAMissingOutputFolderIsAnExitOfItsOwn) {
    const auto end = read_exit("4021");  // shown as 0:53 by scontrol
    EXPECT_EQ(end.signal, 4021 & 0x7f);
    EXPECT_EQ(read_exit("").exit, std::nullopt);
    EXPECT_EQ(read_exit("x:y").exit, std::nullopt);
}

// Printed by sacct of Slurm 22.05.8 with slurmdbd.
TEST(SlurmStates, AccountsExpandTasksThatNeverStarted) {
    const auto tasks = read_accounts(
        "13_0|CANCELLED by 0|0:0|n1\n13_1|FAILED|3:0|n1\n13_[8-9]|CANCELLED by 0|0:0|None "
        "assigned\n12_4|COMPLETED|0:0|n1\n",
        "13");
    ASSERT_EQ(tasks.size(), 4U);
    EXPECT_EQ(tasks[0].state, TaskState::cancelled);
    EXPECT_EQ(tasks[1].exit, 3);
    EXPECT_EQ(tasks[2].task, 8);
    EXPECT_EQ(tasks[3].task, 9);
}

TEST(SlurmStates, AJobIdMayNameItsCluster) {
    EXPECT_EQ(read_job_id("1234\n"), "1234");
    EXPECT_EQ(read_job_id("1234;other\n"), "1234");
    EXPECT_EQ(read_job_id("sbatch: error: no\n"), std::nullopt);
    EXPECT_THAT(read_job_ids("7\n7\n9\n"), ElementsAre("7", "9"));
}

TEST(SlurmStates, TheArrayLimitIsReadFromTheConfiguration) {
    EXPECT_EQ(read_array_limit("MailProg = x\nMaxArraySize            = 1001\n"), 1001);
    EXPECT_EQ(read_array_limit("MailProg = x\n"), std::nullopt);
}

TEST(SlurmStates, TaskNumbersAreWrittenAsRangesAndReadBack) {
    const std::vector<int> tasks = {0, 1, 2, 5, 7, 8};
    EXPECT_EQ(array_text(tasks), "0-2,5,7-8");
    EXPECT_EQ(read_array(array_text(tasks)), tasks);
    EXPECT_THAT(read_array("1-9:4%2"), ElementsAre(1, 5, 9));
    EXPECT_THAT(read_array("5-,a,1-3:0"), IsEmpty());
}

// Printed by scontrol -d -o show job of Slurm 22.05.8, cut.
TEST(SlurmStates, ADetailedJobTellsWhichDevicesItHolds) {
    const auto shares = read_shares(
        "JobId=2 JobName=a Nodes=b JobState=RUNNING JOB_GRES=npu:2   Nodes=n3 CPU_IDs=0 Mem=100 "
        "GRES=npu:2(IDX:0-1) MinCPUsNode=1\n");
    ASSERT_EQ(shares.size(), 1U);
    EXPECT_EQ(shares[0].node, "n3");
    EXPECT_EQ(shares[0].name, "npu");
    EXPECT_EQ(shares[0].count, 2);
    EXPECT_THAT(shares[0].indices, ElementsAre(0, 1));
}

TEST(SlurmStates, SharesHaveTypesListsOrOnlyACount) {
    const auto shares = read_shares(
        "  Nodes=n1 CPU_IDs=0 Mem=1 GRES=gpu:a100:3(IDX:0,2-3),license:1(IDX:4) Min=1 "
        "  Nodes=n2 CPU_IDs=0 Mem=1 GRES=npu(CNT:2) ");
    ASSERT_EQ(shares.size(), 3U);
    EXPECT_EQ(shares[0].type, "a100");
    EXPECT_THAT(shares[0].indices, ElementsAre(0, 2, 3));
    EXPECT_EQ(shares[1].name, "license");
    EXPECT_EQ(shares[2].node, "n2");
    EXPECT_EQ(shares[2].count, 2);
    EXPECT_THAT(shares[2].indices, IsEmpty());
    EXPECT_THAT(read_shares("Nodes=n1 CPU_IDs=0 Mem=100 GRES= Min=1"), IsEmpty());
}

TEST(SlurmStates, ARefusalIsNotAMissingAnswer) {
    EXPECT_TRUE(
        is_no_answer("sbatch: error: Batch job submission failed: Socket timed out on "
                     "send/recv operation"));
    EXPECT_TRUE(is_no_answer("Unable to contact slurm controller (connect failure)"));
    EXPECT_FALSE(is_no_answer("Requested node configuration is not available"));
}

}  // namespace
}  // namespace opgauge
