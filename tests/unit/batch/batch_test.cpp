// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file.h"
#include "opgauge/batch/batch_folder.h"
#include "opgauge/batch/costs.h"
#include "opgauge/batch/recover.h"
#include "opgauge/batch/schedule.h"
#include "opgauge/batch/setup.h"
#include "opgauge/batch/status_table.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using testing::TempDir;

BatchItem waiting(const std::string& name, std::optional<double> expected = std::nullopt) {
    BatchItem item;
    item.entry.name = name;
    item.entry.operator_ = name;
    item.expected_s = expected;
    return item;
}

BatchItem ended(const std::string& name, const std::string& status) {
    BatchItem item = waiting(name);
    item.state = EntryState::finished;
    item.result = ended_with(status, "");
    return item;
}

std::vector<std::string> order_of(const std::vector<BatchItem>& items) {
    BatchQueue queue(items);
    std::vector<std::string> names;
    while (const auto next = queue.take()) names.push_back(items[*next].entry.name);
    return names;
}

TEST(BatchQueue, TheLongestComesFirstAndUnknownOnesCountAsTheMedian) {
    const std::vector<BatchItem> items = {waiting("a", 1), waiting("b"), waiting("c", 9),
                                          waiting("d", 4), waiting("e")};
    EXPECT_EQ(order_of(items), (std::vector<std::string>{"c", "b", "d", "e", "a"}));
}

TEST(BatchQueue, WithoutAnyTimeTheOrderStays) {
    EXPECT_EQ(order_of({waiting("b"), ended("x", "passed"), waiting("a")}),
              (std::vector<std::string>{"b", "a"}));
}

TEST(SecondsLeft, IsTheSumOverLanesAndAtLeastTheLongest) {
    Batch batch;
    EXPECT_EQ(seconds_left(batch, 2), std::nullopt);
    batch.items = {waiting("a", 10), waiting("b", 2), waiting("c", 4)};
    EXPECT_EQ(seconds_left(batch, 2), 10);
    EXPECT_EQ(seconds_left(batch, 1), 16);
    batch.items[0].state = EntryState::running;
    EXPECT_EQ(seconds_left(batch, 1), 11);
}

TEST(BatchItemJson, RoundTripKeepsEverything) {
    BatchItem item = ended("mm@test_mm.py", "failed");
    item.entry.file = "test_mm.py";
    item.result.reason = "wrong";
    item.result.exit_code = 1;
    item.result.signal = 11;
    item.result.rows = {1, 2, 3, 4, 5};
    item.result.geomean_speedup = 1.5;
    item.result.geomean_n = 1;
    item.result.markers = {{"throttled", 2}};
    item.run_dir = "runs/mm";
    item.attempts = 2;
    const Json json = to_json(item);
    EXPECT_EQ(to_line(to_json(item_of(json))), to_line(json));
    EXPECT_EQ(item_of(json).result.rows.flagged, 5);
}

TEST(BatchItemJson, ForeignTypesAreLeftEmpty) {
    const auto json = *parse_json(R"({"status": ["x"], "seconds": "long", "rows": [1],
                                      "markers": [], "outcome": 3, "exit_code": 1e99})",
                                  "test");
    const EntryResult result = result_of(json);
    EXPECT_EQ(result.status, "");
    EXPECT_EQ(result.seconds, 0);
    EXPECT_EQ(result.rows.ok, 0);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(item_of(Json(nullptr)).state, EntryState::pending);
}

TEST(StatusTable, CellsAreEscapedAndUnfinishedOnesAreEmpty) {
    BatchItem item = ended("=mm", "failed");
    item.result.reason = "a,\"b\"\n";
    item.result.seconds = 1.25;
    item.result.rows = {7, 1, 1, 0, 3};
    item.run_dir = "runs/_mm";
    EXPECT_EQ(status_line_of(item, "cpu"),
              "'=mm,failed,,,1.250,cpu,,,,7,2,3,,,runs/_mm,\"a,\"\"b\"\"\\x0a\"\n");
    EXPECT_EQ(status_line_of(waiting("mm"), "cpu"), "mm,not_run,,,,cpu,,,,,,,,,,\n");
}

TEST(RunDirs, NamesThatBecomeTheSameGetDifferentFolders) {
    std::vector<BatchItem> items = {waiting("a::b"), waiting("a__b"), waiting("A")};
    assign_run_dirs(items);
    EXPECT_EQ(items[0].run_dir, "runs/a__b");
    EXPECT_EQ(items[1].run_dir, "runs/a__b~2");
    EXPECT_EQ(items[2].run_dir, "runs/A");
}

TEST(BatchFolder, WhatWasSavedIsReadBackAndTheFolderIsHeld) {
    const TempDir temp;
    Batch batch;
    batch.items = {ended("mm", "passed"), waiting("add", 3)};
    batch.run_options = {"--level", "core"};
    batch.facts = {{"driver", "1"}};
    {
        auto folder = *BatchFolder::claim(temp.path(), temp.path() / "b", {});
        batch.folder = folder.path();
        ASSERT_TRUE(folder.save(batch));
        batch.items[1] = ended("add", "failed");
        folder.touch(1);
        ASSERT_TRUE(folder.save(batch));
        EXPECT_TRUE(BatchFolder::is_held(batch.folder));
        const auto second = BatchFolder::open(batch.folder);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().kind, ErrorKind::refused);
    }
    EXPECT_FALSE(BatchFolder::is_held(batch.folder));
    const auto read = *read_batch(batch.folder);
    EXPECT_EQ(read.items[1].result.status, "failed");
    EXPECT_EQ(read.run_options, batch.run_options);
    EXPECT_EQ(counts_of(read), (std::map<std::string, int>{{"failed", 1}, {"passed", 1}}));
}

TEST(GoingOn, FinishedStaysBegunGoesOnAndTheRestWaits) {
    const TempDir temp;
    Batch batch;
    batch.folder = temp.path();
    batch.items = {ended("done", "failed"), ended("cut", "interrupted"), waiting("adopted"),
                   waiting("begun"), waiting("new")};
    batch.items[4].state = EntryState::not_run;
    assign_run_dirs(batch.items);
    for (const char* name : {"cut", "adopted", "begun"}) {
        std::filesystem::create_directories(temp.path() / "runs" / name);
        ASSERT_TRUE(write_file_atomically(temp.path() / "runs" / name / "rows.jsonl", ""));
    }
    ASSERT_TRUE(write_file_atomically(temp.path() / "runs/adopted/status.json",
                                      R"({"status": "passed", "rows": {"ok": 4}})"));
    ASSERT_TRUE(write_file_atomically(temp.path() / "runs/cut/status.json",
                                      R"({"status": "interrupted"})"));
    prepare_to_go_on(batch);
    EXPECT_EQ(batch.items[0].result.status, "failed");
    EXPECT_EQ(batch.items[1].state, EntryState::pending);
    EXPECT_TRUE(batch.items[1].resume);
    EXPECT_EQ(batch.items[2].state, EntryState::finished);
    EXPECT_EQ(batch.items[2].result.rows.ok, 4);
    EXPECT_TRUE(batch.items[3].resume);
    EXPECT_EQ(batch.items[4].state, EntryState::pending);
    EXPECT_FALSE(batch.items[4].resume);
}

TEST(EntryCosts, TheLastOfSeveralWritersCountsAndTornLinesDoNot) {
    const TempDir temp;
    Environment environment;
    environment.set("OPGAUGE_CACHE", temp.path().string());
    const Json facts = {{"backend", "cpu"}};
    EntryCosts::open(facts, environment).add("mm", 3);
    EntryCosts::open(facts, environment).add("mm", 5);
    EntryCosts::open(Json{{"backend", "x"}}, environment).add("mm", 7);
    for (const auto& file : std::filesystem::directory_iterator(temp.path() / "costs")) {
        auto appender = *LineAppender::open(file.path());
        ASSERT_TRUE(appender.append(R"({"entry": "add", "sec)"));
    }
    EXPECT_EQ(EntryCosts::open(facts, environment).seconds(),
              (std::map<std::string, double>{{"mm", 5}}));
}

TEST(Facts, EachDifferenceIsNamedWithBothValues) {
    const Json kept = {{"driver", "1"}, {"torch", "2.5"}, {"level", "core"}};
    const Json now = {{"driver", "2"}, {"level", "core"}, {"triton", "3"}};
    EXPECT_EQ(
        differing_facts(kept, now),
        (std::vector<std::string>{"driver is \"2\", was \"1\"", "torch is unknown, was \"2.5\"",
                                  "triton is \"3\", was unknown"}));
}

}  // namespace
}  // namespace opgauge
