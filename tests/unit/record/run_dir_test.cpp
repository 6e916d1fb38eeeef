// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/run_dir.h"

#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace opgauge {
namespace {

// C15: the clock stands still and twelve runs start at once.
TEST(RunDir, TwelveRunsAtOneMomentGetTwelveFolders) {
    const testing::TempDir temp;
    const testing::FakeClock clock;
    std::mutex mutex;
    std::set<std::string> names;
    std::vector<std::thread> threads;
    for (int i = 0; i < 12; ++i) {
        threads.emplace_back([&] {
            const auto path = claim_run_dir(temp.path() / "runs", "mm", clock.wall_time());
            const std::lock_guard lock(mutex);
            ASSERT_TRUE(path) << path.error().message;
            names.insert(path->filename().string());
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(names.size(), 12U);
    EXPECT_TRUE(names.contains("mm-20261201T140509Z"));
    EXPECT_TRUE(names.contains("mm-20261201T140509Z-2"));
    EXPECT_TRUE(names.contains("mm-20261201T140509Z-12"));
}

TEST(RunDir, AnExactFolderThatIsNotEmptyIsRefusedAndLeftUntouched) {
    const testing::TempDir temp;
    std::ofstream(temp.path() / "kept.txt") << "kept";
    const auto claimed = claim_exact_run_dir(temp.path());
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().kind, ErrorKind::refused);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temp.path()), {}), 1);
    std::string text;
    std::ifstream(temp.path() / "kept.txt") >> text;
    EXPECT_EQ(text, "kept");
}

TEST(RunDir, AnExactFolderMayBeAbsentOrEmpty) {
    const testing::TempDir temp;
    EXPECT_TRUE(claim_exact_run_dir(temp.path()));
    EXPECT_EQ(*claim_exact_run_dir(temp.path() / "a" / "b"), temp.path() / "a" / "b");
}

TEST(RunDir, ARootThatIsAFileIsAnEnvironmentErrorWithACure) {
    const testing::TempDir temp;
    std::ofstream(temp.path() / "file") << "x";
    const auto claimed = claim_run_dir(temp.path() / "file" / "runs", "mm", {});
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().kind, ErrorKind::environment);
    EXPECT_NE(claimed.error().message.find("--root"), std::string::npos);
}

TEST(RunDir, OperatorNamesBecomeSafeFileNames) {
    EXPECT_EQ(as_file_name("mm"), "mm");
    EXPECT_EQ(as_file_name("../../etc"), "_.._.._etc");
    EXPECT_EQ(as_file_name("a b/c\n"), "a_b_c_");
    EXPECT_EQ(as_file_name(""), "_");
}

}  // namespace
}  // namespace opgauge
