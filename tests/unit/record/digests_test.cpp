// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/digests.h"

#include "opgauge/base/file.h"
#include "opgauge/base/json.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

void put(const std::filesystem::path& path, const std::string& content) {
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(write_file_atomically(path, content));
}

TEST(Digests, AreThoseOfEveryFileInTheFolderAndBelow) {
    const testing::TempDir folder;
    put(folder.path() / "rows.jsonl", "abc");
    put(folder.path() / "warmup" / "report.json", "");
    ASSERT_TRUE(write_digests(folder.path()));
    const Json list = *read_json_file(folder.path() / "digests.json");
    EXPECT_EQ(list.at("files").size(), 2U);
    EXPECT_EQ(list.at("files").at("rows.jsonl"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(list.at("files").at("warmup/report.json"),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_TRUE(check_digests(folder.path())->holds());
}

TEST(Digests, TellWhatChangedWhatIsMissingAndWhatCameAfter) {
    const testing::TempDir folder;
    for (const char* name : {"a", "b", "c"}) put(folder.path() / name, name);
    ASSERT_TRUE(write_digests(folder.path()));
    put(folder.path() / "a", "A");
    std::filesystem::remove(folder.path() / "b");
    put(folder.path() / "notes", "mine");
    const DigestCheck check = *check_digests(folder.path());
    EXPECT_EQ(check.files, 3U);
    EXPECT_EQ(check.changed, std::vector<std::string>{"a"});
    EXPECT_EQ(check.missing, std::vector<std::string>{"b"});
    EXPECT_EQ(check.added, std::vector<std::string>{"notes"});
    EXPECT_FALSE(check.holds());
}

TEST(Digests, AFolderWithoutAListIsAnError) {
    const testing::TempDir folder;
    EXPECT_NE(check_digests(folder.path()).error().message.find("has no digests.json"),
              std::string::npos);
    put(folder.path() / "digests.json", R"({"schema_version": 2, "files": {}})");
    EXPECT_NE(check_digests(folder.path()).error().message.find("cannot read"), std::string::npos);
    put(folder.path() / "digests.json", "[]");
    EXPECT_FALSE(check_digests(folder.path()));
}

}  // namespace
}  // namespace opgauge
