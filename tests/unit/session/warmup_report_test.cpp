// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warmup_report.h"

#include "opgauge/base/clock.h"
#include "opgauge/session/warmup_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge {
namespace {

using testing::ElementsAre;

Disagreement one_disagreement() {
    const MergeSide a{"shard 0", {{"BLOCK", 64}}, {1, 1, 1}, Conditions::noisy};
    const MergeSide b{"shard 1", {{"BLOCK", 128}}, {2, 2, 2}, Conditions::noisy};
    return {"mm_kernel", "mm", "[512]", {}, {a, b}, a.config};
}

WarmupReport two_shards() {
    WarmupReport report;
    report.shards = {{"0", "finished", "", 4, 2, 1.5}, {"1", "finished", "", 4, 2, 1.5}};
    report.merged.after.winners = 4;
    return report;
}

TEST(WarmupReport, AgreementIsUnknownWhereNoKeyWasTunedTwice) {
    EXPECT_THAT(warmup_lines(two_shards()),
                ElementsAre("warm-up: agreement unknown: no key was tuned twice"));
}

TEST(WarmupReport, AgreementIsCountedAndOnlyADifferenceWarns) {
    WarmupReport report = two_shards();
    report.merged.keys_in_several_stores = 3;
    EXPECT_THAT(warmup_lines(report), ElementsAre("warm-up: 3 keys tuned twice, 0 differ"));
    report.merged.disagreements = {one_disagreement()};
    EXPECT_THAT(warmup_lines(report),
                ElementsAre("WARNING: warm-up: 3 keys tuned twice, 1 differs: the winner of 1 key "
                            "differs across shards; warmup/report.json lists them"));
}

TEST(WarmupReport, CasesThatWereNotWarmedAreNamedUpToTwenty) {
    WarmupReport report = two_shards();
    report.shards[1] = {"1", "timeout", "stall 120 s", 2, 1, 121};
    report.not_warmed = {{"mm float16 8x8", 1, "shard 1 timeout"}};
    EXPECT_THAT(
        warmup_lines(report),
        ElementsAre(testing::_, "WARNING: warm-up: shard 1 on 1 ended early: timeout: stall 120 s",
                    "WARNING: warm-up: 1 case was not warmed, so tuned in the run: mm "
                    "float16 8x8 (shard 1 timeout)"));
    report.not_warmed.assign(23, {"case", 1, "why"});
    EXPECT_THAT(warmup_lines(report).back(), testing::EndsWith("case (why), and 3 more"));
}

TEST(WarmupReport, TheFileHasEachSideOfADisagreement) {
    WarmupReport report = two_shards();
    report.merged.keys_in_several_stores = 1;
    report.merged.disagreements = {one_disagreement()};
    const Json json = to_json(report);
    EXPECT_EQ(json["differ"], 1);
    EXPECT_EQ(json["disagreements"][0]["sides"][1],
              Json::parse(R"({"store":"shard 1","config":{"BLOCK":128},"times":[2.0,2.0,2.0],
                              "conditions":"noisy"})"));
    EXPECT_EQ(warmup_identity(report)["devices"], Json::parse(R"(["0","1"])"));
}

TEST(WarmupWatch, ACaseIsWarmedByAnyShardAndElseNamedWithItsOwner) {
    const SystemClock clock;
    RunObserver observer;
    WarmupWatch watch({"0", "1"}, 0, clock, observer);
    const auto say = [&](std::size_t worker, const char* text) {
        watch.on_message(worker, Json::parse(text));
    };
    say(0, R"({"type":"begin","id":"a","name":"A"})");
    say(0, R"({"type":"case","id":"a","ok":true,"seconds":3})");
    say(0, R"({"type":"left","id":"b","name":"B","owner":1})");
    say(0, R"({"type":"left","id":"c","name":"C","owner":1})");
    say(0, R"({"type":"ended","status":"finished","reason":""})");
    say(1, R"({"type":"left","id":"a","name":"A","owner":0})");
    say(1, R"({"type":"begin","id":"b","name":"B"})");
    say(1, R"({"type":"case","id":"b","ok":false,"reason":"no image"})");
    const auto ends = watch.shards({Exited{0}, Signaled{9, false}});
    EXPECT_EQ(ends[0].status, "finished");
    EXPECT_EQ(ends[0].cases, 3);
    EXPECT_EQ(ends[1].status, "crashed");
    EXPECT_EQ(ends[1].reason, "was killed by signal 9 (SIGKILL)");
    const auto cold = watch.not_warmed(ends);
    ASSERT_EQ(cold.size(), 2U);
    EXPECT_EQ(cold[0].name + ": " + cold[0].reason, "B: no image");
    EXPECT_EQ(cold[1].name + ": " + cold[1].reason, "C: shard 1 crashed");
    EXPECT_EQ(watch.costs(), (CaseCosts{{"a", 3}}));
}

class LastProgress : public RunObserver {
  public:
    void on_shard(const ShardProgress& progress) override { last = progress; }
    ShardProgress last;
};

TEST(WarmupWatch, TheTotalIsThatOfAllTestsThatHaveBegun) {
    const SystemClock clock;
    LastProgress observer;
    WarmupWatch watch({"0"}, 0, clock, observer);
    for (const char* text :
         {R"({"type":"planned","test":"t.py::a","cases":5})", R"({"type":"begin","id":"1"})",
          R"({"type":"planned","test":"t.py::a","cases":5})", R"({"type":"begin","id":"2"})"}) {
        watch.on_message(0, Json::parse(text));
    }
    EXPECT_EQ(observer.last.total, 5);
    watch.on_message(0, Json::parse(R"({"type":"planned","test":"t.py::b","cases":3})"));
    watch.on_message(0, Json::parse(R"({"type":"begin","id":"6"})"));
    EXPECT_EQ(observer.last.total, 8);
}

TEST(WarmupWatch, AShardStoppedForWhatItSaidIsNotCalledInterrupted) {
    const SystemClock clock;
    RunObserver observer;
    const WarmupWatch watch({"0", "1", "2"}, 0, clock, observer);
    const auto ends = watch.shards(
        {Stopped{"protocol error: no JSON", 0}, Stopped{"interrupted by SIGINT", 2}, TimedOut{}});
    EXPECT_EQ(ends[0].status, "failed");
    EXPECT_EQ(ends[1].status, "interrupted");
    EXPECT_EQ(ends[2].status, "timeout");
}

}  // namespace
}  // namespace opgauge
