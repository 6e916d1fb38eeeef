// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/tuning_store.h"

#include "opgauge/base/file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/tuned.h"

#include <SQLiteCpp/Transaction.h>
#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>

namespace opgauge {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;
using testing::tuned;

TuningStore make(const std::filesystem::path& path) {
    auto store = TuningStore::open(path, DatabaseAccess::create);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
}

std::string refusal(const std::filesystem::path& path,
                    std::chrono::milliseconds wait = std::chrono::milliseconds(1)) {
    const auto store = TuningStore::open(path, DatabaseAccess::read, wait);
    return store ? "opened" : store.error().message;
}

TEST(TuningStore, GivesBackWhatWasRecorded) {
    const TempDir folder;
    auto store = make(folder.path() / "tuning.db");
    const Winner winner = tuned(384, 64, 0.0046);
    const std::vector<Timing> timings = {winner, tuned(384, 32, 0.0067)};
    ASSERT_TRUE(store.record(winner, timings));
    auto reader = TuningStore::open(folder.path(), DatabaseAccess::read);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto found = reader->find_winner(winner.key, winner.scope);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->config, winner.config);
    EXPECT_EQ((*found)->times.p50, 0.0046);
    EXPECT_EQ((*found)->conditions, Conditions::quiet_serial);
    EXPECT_EQ(reader->timings()->size(), 2U);
    auto other = winner;
    other.scope.device_model = "A100";
    EXPECT_FALSE(*reader->find_winner(other.key, other.scope));
}

TEST(TuningStore, KeepsTheQuietTimingWhicheverComesFirst) {
    for (const bool quiet_first : {true, false}) {
        const TempDir folder;
        auto store = make(folder.path() / "tuning.db");
        const Winner quiet = tuned(384, 64, 0.005);
        const Winner noisy = tuned(384, 32, 0.004, Conditions::noisy);
        ASSERT_TRUE(store.record(quiet_first ? quiet : noisy, {}));
        ASSERT_TRUE(store.record(quiet_first ? noisy : quiet, {}));
        EXPECT_EQ((*store.winners())[0].config, quiet.config);
    }
}

TEST(TuningStore, RefusesAWinnerThatDoesNotWork) {
    const TempDir folder;
    auto store = make(folder.path() / "tuning.db");
    for (const double time : {std::numeric_limits<double>::infinity(), std::nan(""), 0.0, -1.0}) {
        const auto done = store.record(tuned(384, 64, time), {});
        ASSERT_FALSE(done);
        EXPECT_THAT(done.error().message, HasSubstr("no configuration works"));
    }
    EXPECT_EQ(store.size()->winners, 0);
}

TEST(TuningStore, DropsAWinnerWithItsTimingAndRemembersWhy) {
    const TempDir folder;
    auto store = make(folder.path() / "tuning.db");
    const Winner winner = tuned(384, 64, 0.0046);
    Timing timing = winner;
    timing.key.key.push_back("timer_v1");
    Timing other = tuned(384, 32, 0.0067);
    other.key.key.push_back("timer_v1");
    ASSERT_TRUE(store.record(winner, std::vector<Timing>{timing, other}));
    EXPECT_TRUE(*store.drop_winner(winner.key, winner.scope, EvictionKind::out_of_resources));
    EXPECT_FALSE(*store.find_winner(winner.key, winner.scope));
    ASSERT_EQ(store.timings()->size(), 1U);
    EXPECT_EQ((*store.timings())[0].config, other.config);
    ASSERT_EQ(store.evictions()->size(), 1U);
    EXPECT_EQ((*store.evictions())[0].kind, "out_of_resources");
    EXPECT_FALSE(*store.drop_winner(winner.key, winner.scope, EvictionKind::error));
}

TEST(TuningStore, NamesWhatItCannotRead) {
    const TempDir folder;
    const auto path = folder.path() / "tuning.db";
    EXPECT_THAT(refusal(path), HasSubstr("no such file"));
    std::ofstream(path).close();
    EXPECT_THAT(refusal(path), HasSubstr("empty (0 bytes)"));
    std::ofstream(path) << std::string(4096, 'x');
    EXPECT_THAT(refusal(path), HasSubstr("not an sqlite database"));
    std::filesystem::remove(path);
    ASSERT_TRUE(make(path).record(tuned(384, 64, 0.1), {}));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    EXPECT_THAT(refusal(path), HasSubstr("it was cut"));
}

// What a writer leaves that is killed after its header and before its last pages.
TEST(TuningStore, ReadsWhatWasThereBeforeAWriterThatWasKilledHalfWay) {
    const TempDir folder;
    const auto path = folder.path() / "tuning.db";
    const auto killed = folder.path() / "killed.db";
    auto store = make(path);
    ASSERT_TRUE(store.record(tuned(384, 64, 0.1), {}));
    auto& database = store.database();
    database.exec("PRAGMA cache_size = 1");
    {
        SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
        database.exec("CREATE TABLE filler (x)");
        for (int i = 0; i < 100; ++i) {
            database.exec("INSERT INTO filler VALUES (randomblob(4000))");
        }
        std::filesystem::copy_file(path, killed);
        std::filesystem::copy_file(path.string() + "-journal", killed.string() + "-journal");
    }
    std::fstream file(killed, std::ios::in | std::ios::out | std::ios::binary);
    std::string counter(4, '\0');
    file.seekg(92).read(counter.data(), 4);
    file.seekp(24).write(counter.data(), 4);
    file.seekp(28).write("\0\1\0\0", 4);  // more pages than there are
    file.close();
    auto read = TuningStore::open(killed, DatabaseAccess::read);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->winners()->size(), 1U);
    EXPECT_EQ(read->winners()->front().config, tuned(384, 64, 0.1).config);
    std::filesystem::remove(killed.string() + "-journal");
    EXPECT_THAT(refusal(killed), HasSubstr("it was cut"));
}

TEST(TuningStore, NamesAnotherVersionAnotherOwnerAndATrigger) {
    const TempDir folder;
    const auto path = folder.path() / "tuning.db";
    make(path).database().exec("PRAGMA user_version = 7");
    EXPECT_THAT(refusal(path), HasSubstr("schema has version 7, this opgauge knows 1"));
    make(folder.path() / "b.db").database().exec("PRAGMA application_id = 0");
    EXPECT_THAT(refusal(folder.path() / "b.db"), HasSubstr("no tuning store of opgauge"));
    make(folder.path() / "c.db")
        .database()
        .exec("CREATE TRIGGER bad AFTER INSERT ON winners BEGIN DELETE FROM timings; END");
    EXPECT_THAT(refusal(folder.path() / "c.db"), HasSubstr("trigger bad"));
}

TEST(TuningStore, SaysThatAnotherProcessHoldsTheLock) {
    const TempDir folder;
    const auto path = folder.path() / "tuning.db";
    auto holder = make(path);
    SQLite::Transaction held(holder.database(), SQLite::TransactionBehavior::EXCLUSIVE);
    EXPECT_THAT(refusal(path), HasSubstr("store_locked"));
}

// Kills a writer somewhere in its stream of winners; each is there with both timings or not at all.
TEST(TuningStore, IsWholeAfterAKillAtAnyMoment) {
    for (int round = 0; round < 20; ++round) {
        const TempDir folder;
        const auto path = folder.path() / "tuning.db";
        make(path);
        const pid_t child = ::fork();
        if (child == 0) {
            auto store = make(path);
            for (int size = 1;; ++size) {
                const Winner winner = tuned(size, 64, 0.1);
                (void)store.record(winner, std::vector<Timing>{winner, tuned(size, 32, 0.2)});
            }
        }
        ::usleep(static_cast<useconds_t>(2000 + 1700 * round));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const auto before = *read_file(path);
        auto store = TuningStore::open(path, DatabaseAccess::read);
        ASSERT_TRUE(store) << store.error().message;
        EXPECT_EQ(store->size()->timings, 2 * store->size()->winners);
        EXPECT_EQ(*read_file(path), before);
    }
}

}  // namespace
}  // namespace opgauge
