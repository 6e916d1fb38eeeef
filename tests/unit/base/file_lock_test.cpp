// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file_lock.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace opgauge {
namespace {

using ::testing::HasSubstr;

FileLock open(const std::filesystem::path& path) {
    auto lock = FileLock::open(path);
    EXPECT_TRUE(lock) << lock.error().message;
    return std::move(*lock);
}

mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
}

TEST(FileLock, OneAtATimeHoldsIt) {
    const testing::TempDir folder;
    FileLock first = open(folder.path() / "a.lock");
    FileLock second = open(folder.path() / "a.lock");
    EXPECT_TRUE(first.try_lock());
    EXPECT_TRUE(first.try_lock()) << "it is held already";
    EXPECT_FALSE(second.try_lock());
    first.unlock();
    EXPECT_TRUE(second.try_lock());
    EXPECT_FALSE(first.try_lock());
}

TEST(FileLock, TheEndOfItsObjectGivesItBack) {
    const testing::TempDir folder;
    FileLock other = open(folder.path() / "a.lock");
    {
        FileLock first = open(folder.path() / "a.lock");
        ASSERT_TRUE(first.try_lock());
        FileLock moved = std::move(first);
        EXPECT_TRUE(moved.held());
        EXPECT_FALSE(other.try_lock());
    }
    EXPECT_TRUE(other.try_lock());
}

TEST(FileLock, AProcessThatIsKilledGivesItBack) {
    const testing::TempDir folder;
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto lock = FileLock::open(folder.path() / "a.lock");
        if (!lock || !lock->try_lock()) ::_exit(1);
        static_cast<void>(!::write(told[1], "x", 1));
        while (true) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(told[0], &byte, 1), 1);
    FileLock lock = open(folder.path() / "a.lock");
    EXPECT_FALSE(lock.try_lock());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(lock.try_lock());
    ::close(told[0]);
    ::close(told[1]);
}

TEST(FileLock, TheHolderIsDescribedInTheFile) {
    const testing::TempDir folder;
    FileLock first = open(folder.path() / "a.lock");
    first.describe_holder("not the holder yet");
    EXPECT_EQ(first.holder(), "");
    ASSERT_TRUE(first.try_lock());
    first.describe_holder("pid 4711 of somebody");
    first.describe_holder("pid 7");
    EXPECT_EQ(open(folder.path() / "a.lock").holder(), "pid 7");
}

TEST(FileLock, AllUsersMayLockItWhateverTheUmaskSays) {
    const testing::TempDir folder;
    const mode_t former = ::umask(077);
    const auto made = make_shared_folder(folder.path() / "locks");
    const FileLock lock = open(folder.path() / "locks" / "a.lock");
    ::umask(former);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(mode_of(folder.path() / "locks"), 01777U);
    EXPECT_EQ(mode_of(folder.path() / "locks" / "a.lock"), 0666U);
    EXPECT_TRUE(make_shared_folder(folder.path() / "locks")) << "it is there already";
}

TEST(FileLock, ALinkIsNotFollowed) {
    const testing::TempDir folder;
    std::ofstream(folder.path() / "precious") << "content";
    std::filesystem::create_symlink(folder.path() / "precious", folder.path() / "a.lock");
    const auto lock = FileLock::open(folder.path() / "a.lock");
    ASSERT_FALSE(lock);
    EXPECT_THAT(lock.error().message, HasSubstr("a.lock"));
}

TEST(FileLock, AFileInTheFoldersPlaceIsAnErrorWithTheCure) {
    const testing::TempDir folder;
    std::ofstream(folder.path() / "locks") << "";
    const auto made = make_shared_folder(folder.path() / "locks");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::environment);
    EXPECT_THAT(made.error().message, HasSubstr("OPGAUGE_LOCKS"));
}

}  // namespace
}  // namespace opgauge
