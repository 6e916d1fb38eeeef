// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/json.h"

#include "tests/support/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <limits>

namespace opgauge {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Json, ALineIsOneLineWithItsKeysInTheOrderGiven) {
    const Json value = {{"b", 1}, {"a", "x\ny"}, {"c", nullptr}};
    EXPECT_EQ(to_line(value), R"({"b":1,"a":"x\ny","c":null})");
    EXPECT_EQ(to_text(Json{{"b", 1}}), "{\n  \"b\": 1\n}\n");
}

TEST(Json, NanAndInfinityBecomeNull) {
    const Json value = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(), 1.5};
    EXPECT_EQ(to_line(value), "[null,null,1.5]");
}

TEST(Json, BytesThatAreNotUtf8AreReplacedNotThrown) {
    EXPECT_EQ(to_line(Json{{"name", "a\xff"}}), "{\"name\":\"a\xef\xbf\xbd\"}");
}

TEST(Json, ADoubleIsReadBackAsItWas) {
    const double value = 0.1 + 0.2;
    EXPECT_EQ(parse_json(to_line(Json(value)), "x")->get<double>(), value);
}

TEST(Json, AnErrorNamesTheDocumentInOneLine) {
    const auto broken = parse_json("{\"a\": 1,\n  oops}", "line 3 of rows.jsonl");
    ASSERT_FALSE(broken);
    EXPECT_THAT(broken.error().message, StartsWith("line 3 of rows.jsonl is not JSON: "));
    EXPECT_EQ(broken.error().message.find('\n'), std::string::npos);
}

TEST(Json, DeepNestingIsAnErrorNotACrash) {
    const auto deep = parse_json(std::string(1'000'000, '['), "rows.jsonl");
    ASSERT_FALSE(deep);
    EXPECT_EQ(deep.error().message, "rows.jsonl nests deeper than 200 levels");
    EXPECT_TRUE(nests_too_deep(std::string(201, '[')));
    EXPECT_FALSE(nests_too_deep(std::string(200, '[')));
    EXPECT_FALSE(nests_too_deep("\"" + std::string(300, '{') + "\\\"" + std::string(300, '[')));
    std::string wide;
    for (int i = 0; i < 300; ++i) wide += "[],";
    EXPECT_FALSE(nests_too_deep(wide));
}

TEST(Json, AFileThatIsMissingOrBrokenIsNamed) {
    const testing::TempDir folder;
    const auto missing = read_json_file(folder.path() / "none.json");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "cannot read " + (folder.path() / "none.json").string() +
                                           ": No such file or directory");
    std::ofstream(folder.path() / "bad.json") << "{";
    const auto bad = read_json_file(folder.path() / "bad.json");
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().message, HasSubstr("bad.json is not JSON"));
}

TEST(JsonMember, AbsentNullAndOfAnotherTypeAreAllNothing) {
    const Json object = {{"text", "x"}, {"null", nullptr}, {"number", 3}, {"yes", true}};
    EXPECT_EQ(get_optional<std::string>(object, "text"), "x");
    EXPECT_EQ(get_optional<std::string>(object, "absent"), std::nullopt);
    EXPECT_EQ(get_optional<std::string>(object, "null"), std::nullopt);
    EXPECT_EQ(get_optional<std::string>(object, "number"), std::nullopt);
    EXPECT_EQ(get_optional<bool>(object, "yes"), true);
    EXPECT_EQ(get_optional<bool>(object, "number"), std::nullopt);
    EXPECT_EQ(get_optional<int>(object, "yes"), std::nullopt);
    EXPECT_EQ(get_optional<int>(Json::array({1}), "0"), std::nullopt);
    EXPECT_EQ(get_string(object, "absent", "otherwise"), "otherwise");
}

TEST(JsonMember, AnIntegerIsNeverTruncatedWrappedOrRounded) {
    const auto object = parse_json(
        R"({"big":5000000000,"negative":-1,"float":3.0,"fraction":3.5,"huge":1e300,
            "beyond":18446744073709551617,"most":18446744073709551615})",
        "x");
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(get_optional<int>(*object, "big"), std::nullopt);
    EXPECT_EQ(get_optional<std::int64_t>(*object, "big"), 5'000'000'000);
    EXPECT_EQ(get_optional<unsigned>(*object, "negative"), std::nullopt);
    EXPECT_EQ(get_optional<int>(*object, "negative"), -1);
    EXPECT_EQ(get_optional<int>(*object, "float"), 3);
    EXPECT_EQ(get_optional<int>(*object, "fraction"), std::nullopt);
    EXPECT_EQ(get_optional<std::uint64_t>(*object, "huge"), std::nullopt);
    EXPECT_EQ(get_optional<std::uint64_t>(*object, "beyond"), std::nullopt);
    EXPECT_EQ(get_optional<std::uint64_t>(*object, "most"), 18446744073709551615ULL);
    EXPECT_EQ(get_optional<double>(*object, "negative"), -1.0);
}

TEST(JsonMember, NoValueBecomesNull) {
    EXPECT_EQ(optional_json(std::optional<int>()), Json(nullptr));
    EXPECT_EQ(optional_json(std::optional<int>(4)), Json(4));
}

}  // namespace
}  // namespace opgauge
