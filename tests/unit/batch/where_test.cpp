// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/where.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

BatchItem ended(const std::string& name, TimePart part, double seconds) {
    BatchItem item;
    item.entry.name = name;
    item.state = EntryState::finished;
    item.result.status = "passed";
    item.result.time.emplace();
    (*item.result.time)[part] = seconds;
    (*item.result.time)[TimePart::other] = 1;
    return item;
}

TEST(WhereTest, OperatorsAndWhatIsOutsideOfThemSumUp) {
    Batch batch;
    batch.lane_seconds = 100;
    batch.outside[TimePart::idle] = 7;
    batch.items = {ended("add", TimePart::tune, 10), ended("mm", TimePart::measure, 20)};
    batch.items.emplace_back().entry.name = "relu";
    batch.items.emplace_back().state = EntryState::finished;  // of an older opgauge
    const BatchTime time = time_of(batch);
    EXPECT_EQ(time.lane_seconds, 100);
    EXPECT_EQ(time.parts[TimePart::idle], 7);
    EXPECT_EQ(time.parts[TimePart::other], 2);
    EXPECT_EQ(time.parts.sum(), 7 + 11 + 21);
    EXPECT_EQ(time.known, 2U);
    EXPECT_EQ(time.unknown, 1U);
    EXPECT_EQ(time.unfinished, 1U);
    ASSERT_EQ(time.costliest.size(), 2U);
    EXPECT_EQ(time.costliest[0].name, "mm");
    EXPECT_EQ(time.costliest[0].largest, TimePart::measure);
    EXPECT_EQ(time.costliest[1].largest, TimePart::tune);
    const Json json = to_json(time);
    EXPECT_EQ(json["seconds"], 39.0);
    EXPECT_EQ(json["operators"][0]["parts"]["measure"], 20.0);
}

TEST(WhereTest, AtMostTwentyOperatorsAreNamed) {
    Batch batch;
    for (int i = 0; i < 30; ++i) batch.items.push_back(ended(std::to_string(i), TimePart::end, i));
    const BatchTime time = time_of(batch);
    ASSERT_EQ(time.costliest.size(), BatchTime::kCostliest);
    EXPECT_EQ(time.costliest.front().name, "29");
    EXPECT_EQ(time.costliest.back().name, "10");
    EXPECT_EQ(time.lane_seconds, std::nullopt);
}

TEST(WhereTest, AHintIsNothingThatTheBatchDoesAlready) {
    Batch batch;
    batch.facts = {{"tune", "record"}, {"tune_timing", "full"}};
    EXPECT_THAT(hint_for(TimePart::tune, batch), HasSubstr("--tune-timing race"));
    batch.facts["tune_timing"] = "race";
    EXPECT_THAT(hint_for(TimePart::tune, batch), Not(HasSubstr("race")));
    EXPECT_THAT(hint_for(TimePart::tune, batch), HasSubstr("--tune replay --from"));
    batch.facts["tune"] = "replay";
    EXPECT_THAT(hint_for(TimePart::tune, batch), HasSubstr("its source lacks keys"));

    EXPECT_THAT(hint_for(TimePart::start, batch), HasSubstr("--lanes-per-device 2 starts"));
    EXPECT_THAT(hint_for(TimePart::wait, batch), HasSubstr("no other process"));
    batch.lanes_per_device = 4;
    EXPECT_THAT(hint_for(TimePart::start, batch), IsEmpty());
    EXPECT_THAT(hint_for(TimePart::end, batch), IsEmpty());
    EXPECT_EQ(hint_for(TimePart::wait, batch), "fewer --lanes-per-device");
    batch.lane_options = {"--no-fork-server"};
    EXPECT_EQ(hint_for(TimePart::start, batch), "leave --no-fork-server out");
    EXPECT_THAT(hint_for(TimePart::imports, batch), HasSubstr("leave --no-fork-server out"));

    EXPECT_THAT(hint_for(TimePart::measure, batch), HasSubstr("--max-time (0.25)"));
    batch.run_options = {"--max-time", "0.1"};
    EXPECT_THAT(hint_for(TimePart::measure, batch), HasSubstr("a shorter --max-time"));
    EXPECT_THAT(hint_for(TimePart::compile, batch), HasSubstr("TRITON_CACHE_DIR"));
    EXPECT_THAT(hint_for(TimePart::inputs, batch), HasSubstr("--shapes"));
    EXPECT_THAT(hint_for(TimePart::check, batch), HasSubstr("--no-check"));
    EXPECT_THAT(hint_for(TimePart::lost, batch), HasSubstr("quarantined"));
    EXPECT_THAT(hint_for(TimePart::other, batch), IsEmpty());
}

TEST(WhereTest, TheNativeCorpusIsNotToldOfLanesThatItCannotHave) {
    Batch batch;
    batch.facts = {{"corpus.name", "native"}};
    EXPECT_THAT(hint_for(TimePart::start, batch), IsEmpty());
}

}  // namespace
}  // namespace opgauge
