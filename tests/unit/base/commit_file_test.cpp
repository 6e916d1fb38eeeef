// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/commit_file.h"

#include "opgauge/base/file.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <fstream>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CommitCalls told_to(std::vector<std::string>& told, const std::string& failing = "") {
    const auto say = [&told, failing](const std::string& what) {
        told.push_back(what);
        return what == failing ? EIO : 0;
    };
    using Path = std::filesystem::path;
    return {[say](const Path& path) { return say("sync " + path.string()); },
            [say](const Path& from, const Path& to) {
                return say("rename " + from.string() + " " + to.string());
            },
            [say](const Path& from, const Path& to) {
                return say("link " + from.string() + " " + to.string());
            },
            [say](const Path& path) { return say("unlink " + path.string()); }};
}

TEST(CommitFile, SyncsFileAndFolderBeforeTheRename) {
    std::vector<std::string> told;
    ASSERT_TRUE(commit_file("d/a.tmp", "d/a", IfThere::replace, told_to(told)));
    EXPECT_THAT(told, ElementsAre("sync d/a.tmp", "sync d", "rename d/a.tmp d/a", "sync d"));
    told.clear();
    ASSERT_TRUE(commit_file("d/a.tmp", "d/a", IfThere::refuse, told_to(told)));
    EXPECT_THAT(told, ElementsAre("sync d/a.tmp", "sync d", "link d/a.tmp d/a", "sync d",
                                  "unlink d/a.tmp"));
}

TEST(CommitFile, RenamesNothingThatCouldNotBeSynced) {
    std::vector<std::string> told;
    const auto done = commit_file("d/a.tmp", "d/a", IfThere::replace, told_to(told, "sync d"));
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("cannot sync the folder d: Input/output error"));
    EXPECT_THAT(told, ElementsAre("sync d/a.tmp", "sync d", "unlink d/a.tmp"));
}

TEST(CommitFile, LeavesAFileThatIsThere) {
    const testing::TempDir folder;
    const auto to = folder.path() / "a";
    std::ofstream(to) << "old";
    const auto from = unused_name_beside(to);
    ASSERT_TRUE(from);
    std::ofstream(*from) << "new";
    EXPECT_FALSE(commit_file(*from, to, IfThere::refuse));
    EXPECT_EQ(*read_file(to), "old");
    EXPECT_FALSE(std::filesystem::exists(*from));
}

}  // namespace
}  // namespace opgauge
