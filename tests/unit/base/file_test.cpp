// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <vector>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

// While it lives, no file of this process grows beyond `bytes`: a full disk, to order.
class FullDisk {
  public:
    explicit FullDisk(rlim_t bytes) {
        former_handler_ = ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &former_);
        const rlimit limit{bytes, former_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &former_);
        ::signal(SIGXFSZ, former_handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

  private:
    rlimit former_{};
    sighandler_t former_handler_;
};

class FileTest : public ::testing::Test {
  protected:
    std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
    const testing::TempDir folder_;
};

TEST_F(FileTest, WhatIsWrittenIsReadBackByteForByte) {
    std::string content;
    for (int i = 0; i < 100'000; ++i) content.push_back(static_cast<char>(i));
    ASSERT_TRUE(write_file_atomically(path("data"), content));
    EXPECT_EQ(*read_file(path("data")), content);
    ASSERT_TRUE(write_file_atomically(path("data"), ""));
    EXPECT_EQ(*read_file(path("data")), "");
    EXPECT_THAT(names_in(folder_.path()), ElementsAre("data"));
}

TEST_F(FileTest, AWrittenFileMayBeReadByOthers) {
    ASSERT_TRUE(write_file_atomically(path("data"), "x"));
    struct stat facts {};
    ASSERT_EQ(::stat(path("data").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0644U);
}

TEST_F(FileTest, ReadingNamesTheFileAndTheReason) {
    EXPECT_EQ(read_file(path("none")).error().message,
              "cannot read " + path("none").string() + ": No such file or directory");
    EXPECT_EQ(read_file(folder_.path()).error().message,
              "cannot read " + folder_.path().string() + ": Is a directory");
}

TEST_F(FileTest, AFullDiskLeavesTheOldContentAndNoLitter) {
    ASSERT_TRUE(write_file_atomically(path("data"), "old"));
    const FullDisk disk(1000);
    const auto written = write_file_atomically(path("data"), std::string(5000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::environment);
    EXPECT_THAT(written.error().message, StartsWith("cannot write " + path("data").string()));
    EXPECT_THAT(written.error().message, HasSubstr("File too large"));
    EXPECT_EQ(*read_file(path("data")), "old");
    EXPECT_THAT(names_in(folder_.path()), ElementsAre("data"));
}

TEST_F(FileTest, ATargetThatCannotBeReplacedLeavesNoLitter) {
    std::filesystem::create_directories(path("folder") / "inside");
    const auto written = write_file_atomically(path("folder"), "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message,
              "cannot rename onto " + path("folder").string() + ": Is a directory");
    EXPECT_THAT(names_in(folder_.path()), ElementsAre("folder"));
}

TEST_F(FileTest, AMissingFolderIsNamed) {
    const auto written = write_file_atomically(path("missing") / "data", "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "cannot create a file beside " +
                                           (path("missing") / "data").string() +
                                           ": No such file or directory");
}

TEST_F(FileTest, LinesAreAppendedToWhatIsThere) {
    std::ofstream(path("rows")) << "zero\n";
    auto rows = LineAppender::open(path("rows"));
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_TRUE(rows->append("one"));
    EXPECT_EQ(*read_file(path("rows")), "zero\none\n");  // before any sync or close
    LineAppender moved = std::move(*rows);
    ASSERT_TRUE(moved.append("two"));
    ASSERT_TRUE(moved.sync());
    EXPECT_EQ(*read_file(path("rows")), "zero\none\ntwo\n");
}

TEST_F(FileTest, EachAppendThatFailsLeavesWholeLinesOnly) {
    auto rows = LineAppender::open(path("rows"));
    ASSERT_TRUE(rows);
    const std::string line(99, 'x');  // a hundred bytes with its newline
    int written = 0;
    {
        const FullDisk disk(250);
        while (rows->append(line)) ++written;
        EXPECT_EQ(written, 2);
        EXPECT_FALSE(rows->append(line));
    }
    EXPECT_EQ(std::filesystem::file_size(path("rows")), 200U);
    ASSERT_TRUE(rows->append("after"));
    EXPECT_EQ(*read_file(path("rows")), line + "\n" + line + "\nafter\n");
}

TEST_F(FileTest, AnAppendToAFullDeviceSaysSo) {
    auto full = LineAppender::open("/dev/full");
    ASSERT_TRUE(full);
    EXPECT_EQ(full->append("x").error().message, "cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace opgauge
