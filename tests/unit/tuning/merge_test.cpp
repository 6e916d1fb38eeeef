// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/merge.h"

#include "tests/support/temp_dir.h"
#include "tests/support/tuned.h"

#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

namespace opgauge {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::TempDir;
using testing::tuned;

// Everything in a store, as text that can be compared.
std::string content(const std::filesystem::path& path) {
    auto store = TuningStore::open(path, DatabaseAccess::read);
    if (!store) return store.error().message;
    std::vector<std::string> lines;
    const auto winners = store->winners();
    const auto timings = store->timings();
    for (const auto* all : {&*winners, &*timings}) {
        for (const auto& one : *all) {
            lines.push_back(
                to_line({one.key.kernel, one.key.space, one.key.key, one.config,
                         time_json(one.times.p50), to_json(one.scope), name_of(one.conditions)}));
        }
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

class MergeTest : public ::testing::Test {
  protected:
    MergeSource make(const std::string& name, const std::vector<Winner>& winners) {
        const auto path = folder_.path() / name;
        auto store = TuningStore::open(path, DatabaseAccess::create);
        for (const auto& winner : winners) {
            (void)store->record(winner, std::vector<Timing>{winner});
        }
        return {path, name};
    }
    std::filesystem::path at(const std::string& name) { return folder_.path() / name; }
    TempDir folder_;
};

TEST_F(MergeTest, DoesNotDependOnTheOrder) {
    std::vector<MergeSource> sources = {
        make("a", {tuned(1, 64, 0.5), tuned(2, 32, 0.3, Conditions::noisy)}),
        make("b", {tuned(1, 32, 0.4), tuned(3, 16, 0.1)}),
        make("c", {tuned(1, 16, 0.4), tuned(2, 128, 0.9)})};
    std::string first;
    int number = 0;
    std::sort(sources.begin(), sources.end(), [](auto& a, auto& b) { return a.label < b.label; });
    do {
        const auto target = at("target" + std::to_string(++number));
        ASSERT_TRUE(merge_stores(target, sources));
        if (first.empty()) first = content(target);
        EXPECT_EQ(content(target), first);
    } while (std::next_permutation(sources.begin(), sources.end(),
                                   [](auto& a, auto& b) { return a.label < b.label; }));
    EXPECT_EQ(number, 6);
}

TEST_F(MergeTest, ListsDisagreementsWithEachSidesTiming) {
    const std::vector<MergeSource> sources = {make("a", {tuned(1, 64, 0.5)}),
                                              make("b", {tuned(1, 32, 0.4, Conditions::noisy)})};
    const auto report = merge_stores(at("target"), sources);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->keys_in_several_stores, 1);
    ASSERT_THAT(report->disagreements, SizeIs(1));
    const auto& one = report->disagreements[0];
    ASSERT_THAT(one.sides, SizeIs(2));
    EXPECT_EQ(one.sides[0].times.p50, 0.5);
    EXPECT_EQ(one.sides[1].times.p50, 0.4);
    EXPECT_EQ(one.chosen, tuned(1, 64, 0.5).config);  // the quiet one, though it is slower
}

TEST_F(MergeTest, TellsTwoKernelsOfOneNameApartByTheirSource) {
    Winner other = tuned(1, 64, 0.5);
    other.scope.kernel_source_hash = "another";
    const std::vector<MergeSource> sources = {make("a", {tuned(1, 64, 0.5), other}),
                                              make("b", {tuned(1, 32, 0.4), other})};
    const auto report = merge_stores(at("target"), sources);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->keys_in_several_stores, 2);
    ASSERT_THAT(report->disagreements, SizeIs(1));
    EXPECT_EQ(report->disagreements[0].scope, tuned(1, 64, 0.5).scope);
}

TEST_F(MergeTest, LetsNoInfiniteTimingWin) {
    auto broken = TuningStore::open(at("b"), DatabaseAccess::create);
    ASSERT_TRUE(broken->record(tuned(1, 32, 0.4), {}));
    broken->database().exec("UPDATE winners SET p50 = 9e999");
    const std::vector<MergeSource> sources = {make("a", {tuned(1, 64, 0.5, Conditions::noisy)}),
                                              {at("b"), "b"}};
    const auto report = merge_stores(at("target"), sources);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->disagreements.at(0).chosen, tuned(1, 64, 0.5).config);
    ASSERT_THAT(report->problems, SizeIs(1));
    EXPECT_THAT(report->problems[0], HasSubstr("b: the winner of mm at"));
}

TEST_F(MergeTest, ListsSetsOfFieldsAndHashesThatDoNotFit) {
    auto other = tuned(2, 64, 0.5);
    other.config["SPLIT_K"] = 2;
    auto number = tuned(1, 64, 0.5);
    auto text = number;
    for (int i = 0; i < 70; ++i) {
        number.key.key.push_back(1);
        text.key.key.push_back("1");
    }
    const std::vector<MergeSource> sources = {make("a", {tuned(1, 64, 0.5), number}),
                                              make("b", {other, text})};
    const auto report = merge_stores(at("target"), sources);
    ASSERT_TRUE(report);
    ASSERT_THAT(report->problems, SizeIs(2));
    EXPECT_THAT(report->problems[0], HasSubstr("sets of fields differ"));
    EXPECT_THAT(report->problems[0], HasSubstr("BLOCK_M SPLIT_K num_warps in b"));
    EXPECT_THAT(report->problems[1], HasSubstr("2 different keys have the hash"));
    EXPECT_EQ(report->after.winners, 4);
}

TEST_F(MergeTest, LosesNothingOfFourProcesses) {
    std::vector<MergeSource> sources;
    for (int i = 0; i < 4; ++i) {
        std::vector<Winner> winners;
        for (int size = 0; size < 10; ++size) winners.push_back(tuned(i * 10 + size, 64, 0.5));
        sources.push_back(make("s" + std::to_string(i), winners));
    }
    std::vector<pid_t> children;
    for (const auto& source : sources) {
        const pid_t child = ::fork();
        if (child == 0) {
            const auto done =
                merge_stores(at("target"), std::vector{source}, std::chrono::milliseconds(30'000));
            ::_exit(done ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    auto store = TuningStore::open(at("target"), DatabaseAccess::read);
    EXPECT_EQ(store->size()->winners, 40);
    EXPECT_EQ(store->size()->timings, 40);
}

TEST_F(MergeTest, LeavesTheTargetOldOrNewAfterAKill) {
    std::vector<Timing> timings;
    for (int size = 0; size < 300; ++size) timings.push_back(tuned(size, 64, 0.5));
    const auto source = make("source", {tuned(1, 32, 0.1)});
    ASSERT_TRUE(TuningStore::open(at("source"), DatabaseAccess::write)->put_timings(timings));
    make("old", {tuned(1, 64, 0.5), tuned(2000, 64, 0.5)});
    const std::string before = content(at("old"));
    std::filesystem::copy_file(at("old"), at("new"));
    ASSERT_TRUE(merge_stores(at("new"), std::vector{source}));
    const std::string after = content(at("new"));
    int old_ones = 0;
    for (int round = 0; round < 50; ++round) {
        const auto target = at("t" + std::to_string(round));
        std::filesystem::copy_file(at("old"), target);
        const pid_t child = ::fork();
        if (child == 0) {
            (void)merge_stores(target, std::vector{source});
            ::_exit(0);
        }
        ::usleep(static_cast<useconds_t>(round * 997));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::string now = content(target);
        old_ones += now == before ? 1 : 0;
        EXPECT_TRUE(now == before || now == after) << "round " << round;
    }
    EXPECT_GE(old_ones, 1);  // the first one is killed at once
}

}  // namespace
}  // namespace opgauge
