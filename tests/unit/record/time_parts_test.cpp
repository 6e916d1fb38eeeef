// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/time_parts.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(TimePartsTest, NamesAndPartsAreOneToOne) {
    for (int i = 0; i < static_cast<int>(TimePart::count_); ++i) {
        const auto part = static_cast<TimePart>(i);
        EXPECT_EQ(time_part_named(name_of(part)), part);
    }
    EXPECT_EQ(name_of(TimePart::imports), "import");
    EXPECT_EQ(time_part_named("lunch"), std::nullopt);
}

TEST(TimePartsTest, TheRestUpToTheWallIsOther) {
    TimeParts parts;
    parts[TimePart::measure] = 3;
    parts[TimePart::tune] = 4;
    parts.fit_to(10);
    EXPECT_DOUBLE_EQ(parts[TimePart::other], 3);
    EXPECT_DOUBLE_EQ(parts.sum(), 10);
    EXPECT_EQ(parts.largest(), TimePart::tune);
}

TEST(TimePartsTest, MoreThanTheWallIsSharedOut) {
    TimeParts parts;
    parts[TimePart::measure] = 30;
    parts[TimePart::tune] = 10;
    parts.fit_to(8);
    EXPECT_DOUBLE_EQ(parts[TimePart::measure], 6);
    EXPECT_DOUBLE_EQ(parts[TimePart::tune], 2);
    EXPECT_DOUBLE_EQ(parts[TimePart::other], 0);
}

TEST(TimePartsTest, JsonKeepsMicrosecondsAndLeavesRarePartsOut) {
    TimeParts parts;
    parts[TimePart::compile] = 1.2345678;
    const Json json = to_json(parts);
    EXPECT_EQ(json["compile"], 1.234568);
    EXPECT_EQ(json["measure"], 0.0);
    EXPECT_FALSE(json.contains("idle"));
    EXPECT_FALSE(json.contains("lost"));
    parts[TimePart::lost] = 2;
    EXPECT_EQ(to_json(parts)["lost"], 2.0);
}

TEST(TimePartsTest, WhatIsNoTimeIsLeftOut) {
    EXPECT_FALSE(time_parts_in(nullptr));
    EXPECT_FALSE(time_parts_in(Json::parse("[1]")));
    const auto read = time_parts_in(
        Json::parse(R"({"tune":"long","compile":-1,"check":null,"wait":2,"lunch":9})"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->sum(), 2);
    EXPECT_EQ((*read)[TimePart::wait], 2);
}

}  // namespace
}  // namespace opgauge
