// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/history.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

IndexedCase entry_of(const std::string& case_id, const std::string& caliber_id) {
    IndexedCase entry;
    entry.case_id = case_id;
    entry.caliber_id = caliber_id;
    entry.run.caliber_id = "run" + caliber_id;
    entry.run.setup_id = "setup";
    return entry;
}

std::vector<std::string> calibers(const std::vector<IndexedCase>& cases) {
    std::vector<std::string> ids;
    for (const auto& entry : cases) ids.push_back(entry.case_id + ":" + entry.caliber_id);
    return ids;
}

using Ids = std::vector<std::string>;

TEST(WithinOneCaliber, EachCaseKeepsTheCaliberOfItsNewestRow) {
    const std::vector<IndexedCase> cases = {entry_of("a", "1"), entry_of("a", "2"),
                                            entry_of("a", "1"), entry_of("b", "1"),
                                            entry_of("b", "2")};
    EXPECT_EQ(calibers(within_one_caliber(cases, "")), (Ids{"a:1", "a:1", "b:2"}));
}

TEST(WithinOneCaliber, AnIdChoosesByRowRunOrSetup) {
    const std::vector<IndexedCase> cases = {entry_of("a", "1"), entry_of("a", "2")};
    EXPECT_EQ(calibers(within_one_caliber(cases, "1")), Ids{"a:1"});
    EXPECT_EQ(calibers(within_one_caliber(cases, "run1")), Ids{"a:1"});
    EXPECT_EQ(calibers(within_one_caliber(cases, "set")), Ids{"a:2"});
    EXPECT_TRUE(within_one_caliber(cases, "3").empty());
}

TEST(WithinOneCaliber, ARowWithoutACaliberNeverHidesOneThatHasIt) {
    const std::vector<IndexedCase> cases = {entry_of("a", "1"), entry_of("a", "")};
    EXPECT_EQ(calibers(within_one_caliber(cases, "")), Ids{"a:1"});
}

class History : public ::testing::Test {
  protected:
    std::filesystem::path file() const { return folder_.path() / "deep" / "history.db"; }
    static std::vector<std::filesystem::path> data() {
        const std::filesystem::path folder =
            std::filesystem::path(OPGAUGE_SOURCE_DIR) / "tests/data/report/runs";
        return {folder / "mm", folder / "odd"};
    }
    testing::TempDir folder_;
};

TEST_F(History, ReadsARunOnceAndKeepsWhatItHolds) {
    auto index = HistoryIndex::open(file());
    ASSERT_TRUE(index) << index.error().message;
    EXPECT_EQ(index->update(data())->read, 2U);
    EXPECT_EQ(index->update(data())->unchanged, 2U);
    const auto runs = *index->runs({});
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].operator_name, "mm");
    EXPECT_EQ(runs[0].status, "passed");
    EXPECT_EQ(runs[0].rows, 6U);
    EXPECT_EQ(runs[0].geomean_n, 5U);
    EXPECT_NEAR(*runs[0].geomean, 1.4498, 0.0001);
    const auto cases = *index->cases("mm", {});
    ASSERT_EQ(cases.size(), 6U);
    EXPECT_EQ(cases[0].dtype, "bfloat16");
    EXPECT_EQ(cases[0].shapes, "32x32");
    EXPECT_NEAR(*cases[0].speedup, 1.44, 1e-9);
}

TEST_F(History, ShowsOnlyTheFoldersThatAreAskedFor) {
    auto index = HistoryIndex::open(file());
    ASSERT_TRUE(index->update(data()));
    const std::vector<std::filesystem::path> odd = {data()[1]};
    EXPECT_EQ(index->runs(odd)->size(), 1U);
    EXPECT_TRUE(index->cases("mm", odd)->empty());
}

TEST_F(History, AFolderThatCannotBeReadIsSaidAndTheOthersAreKept) {
    auto index = HistoryIndex::open(file());
    const std::vector<std::filesystem::path> folders = {data()[0], folder_.path() / "none"};
    const auto update = *index->update(folders);
    EXPECT_EQ(update.read, 1U);
    ASSERT_EQ(update.warnings.size(), 1U);
    EXPECT_EQ(index->runs({})->size(), 1U);
}

TEST_F(History, NeitherAnotherVersionNorAnotherDatabaseIsTouched) {
    ASSERT_TRUE(HistoryIndex::open(file()));
    {
        SQLite::Database database(file().string(), SQLite::OPEN_READWRITE);
        database.exec("PRAGMA user_version = 9");
    }
    EXPECT_EQ(HistoryIndex::open(file()).error().kind, ErrorKind::refused);
    const auto foreign = folder_.path() / "foreign.db";
    {
        SQLite::Database database(foreign.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("CREATE TABLE mine (x)");
    }
    const auto refused = HistoryIndex::open(foreign);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_NE(refused.error().message.find("no history of opgauge"), std::string::npos);
}

}  // namespace
}  // namespace opgauge
