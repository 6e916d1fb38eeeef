// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/caliber.h"

#include "opgauge/base/file.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

Json identity() {
    return Json::parse(R"({"backend":{"name":"cuda"},"device":{"name":"X","uuid":"GPU-1",
        "memory_total_bytes":1000},"driver":"580.1","software":{"torch":"2.11","triton":"3.6"},
        "corpus":{"name":"flaggems","commit":"abc"},"created_utc":"2026-12-01T00:00:00Z",
        "run_id":"mm-1","environment":{"TRITON_X":"1"}})");
}

TEST(Caliber, ChangesWithEachOfItsFieldsAndWithNothingElse) {
    const std::string before = setup_id(identity());
    for (const auto& field : setup_fields()) {
        Json changed = identity();
        changed[Json::json_pointer(std::string(field.pointer))] = "another";
        EXPECT_NE(setup_id(changed), before) << field.name;
        const auto differences = setup_differences(identity(), changed);
        ASSERT_EQ(differences.size(), 1U) << field.name;
        EXPECT_EQ(differences[0].name, field.name);
        EXPECT_EQ(differences[0].right, "another");
    }
    Json same = identity();
    same["created_utc"] = "2027-01-01T00:00:00Z";
    same["run_id"] = "mm-2";
    same["device"]["uuid"] = "GPU-2";  // another card of the same model is the same setup
    EXPECT_EQ(setup_id(same), before);
}

TEST(Caliber, AFactThatRunsOfEarlierVersionsLackKeepsTheirIds) {
    Json usual = identity();
    usual["tuning"]["timing"] = "full";
    Json off = identity();
    off["tuning"]["timing"] = nullptr;
    for (const Json& same : {usual, off}) {
        EXPECT_EQ(setup_id(same), setup_id(identity()));
        EXPECT_TRUE(setup_differences(identity(), same).empty());
        EXPECT_FALSE(setup_facts(same).contains("tune_timing"));
    }
    Json raced = identity();
    raced["tuning"]["timing"] = "race";
    EXPECT_NE(setup_id(raced), setup_id(identity()));
    const auto differences = setup_differences(identity(), raced);
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_EQ(differences[0].left, "full");
    EXPECT_EQ(differences[0].right, "race");
}

TEST(Caliber, DoesNotDependOnTheOrderOfMembers) {
    const Json a = {{"driver", "1"}, {"environment", {{"A", "1"}, {"B", "2"}}}};
    const Json b = {{"environment", {{"B", "2"}, {"A", "1"}}}, {"driver", "1"}};
    EXPECT_EQ(setup_id(a), setup_id(b));
}

TEST(Caliber, TimerSettingsAndWinnersArePartOfTheCaliberId) {
    const std::string direct = caliber_id(identity(), "direct", Json::object(), "");
    EXPECT_NE(caliber_id(identity(), "graph", Json::object(), ""), direct);
    EXPECT_NE(caliber_id(identity(), "direct", {{"l2", "hot"}}, ""), direct);
    EXPECT_NE(caliber_id(identity(), "direct", Json::object(), "w1"), direct);
    EXPECT_EQ(direct.size(), 16U);
}

TEST(Caliber, EveryFieldIsExplainedInTheDocumentation) {
    const auto page = read_file(OPGAUGE_SOURCE_DIR "/docs/caliber.md");
    ASSERT_TRUE(page);
    for (const auto& field : setup_fields()) {
        EXPECT_NE(page->find("| `" + std::string(field.name) + "` |"), std::string::npos)
            << field.name;
    }
}

}  // namespace
}  // namespace opgauge
