// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_desk.h"

#include "tests/support/temp_dir.h"
#include "tests/support/tuned.h"

#include <gmock/gmock.h>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempDir;
using testing::tuned;

class TuningDeskTest : public ::testing::Test {
  protected:
    TuningDesk desk(TuningMode mode, TuningSettings settings = {}) {
        settings.mode = mode;
        settings.known.device_model = "H200";
        std::optional<Replay> source;
        if (mode == TuningMode::replay) {
            source = std::move(*Replay::open(folder_.path() / "source", settings.accepted));
        }
        return {settings, open("own"), std::move(source)};
    }

    TuningStore open(const std::string& name) {
        std::filesystem::create_directories(folder_.path() / name);
        return std::move(*TuningStore::open(folder_.path() / name, DatabaseAccess::create));
    }

    // A source with winners at 384 and 1024.
    void record() {
        auto store = open("source");
        ASSERT_TRUE(store.record(tuned(384, 64, 0.005), {}));
        ASSERT_TRUE(store.record(tuned(1024, 128, 0.02), {}));
    }

    static Json question(int id, int size, const std::string& source = "source1") {
        const Winner one = tuned(size, 64, 1);
        return {{"type", "winner"},
                {"id", id},
                {"kernel", one.key.kernel},
                {"space", one.key.space},
                {"key", one.key.key},
                {"raw_key", one.key.raw_key},
                {"facts", {{"kernel_source_hash", source}, {"config_list_digest", "list1"}}}};
    }

    static Json sweep(int id, int block, const Json& time) {
        const Json config = {{"BLOCK_M", block}, {"num_warps", 4}};
        const Json times = {time, time, time};
        return {{"type", "tuned"},
                {"id", id},
                {"config", config},
                {"times", times},
                {"timings", {{{"config", config}, {"times", times}}}},
                {"seconds", 0.5},
                {"timed", 1}};
    }

    static Json failure(int id, int block, bool can_drop, const char* kind = "timeout") {
        return {{"type", "winner_failed"},
                {"id", id},
                {"config", {{"BLOCK_M", block}, {"num_warps", 4}}},
                {"kind", kind},
                {"message", "too slow"},
                {"can_drop", can_drop}};
    }

    static std::string case_digest(TuningDesk& desk, const std::vector<long long>& ids) {
        return desk.end_case(ids)->winners_digest;
    }

    TempDir folder_;
};

TEST_F(TuningDeskTest, EachKeyIsCountedAsItWasTimed) {
    auto desk = this->desk(TuningMode::record);
    for (int id = 1; id <= 3; ++id) ASSERT_TRUE(desk.answer_winner(question(id, 128 * id)));
    Json raced = sweep(1, 64, 0.005);
    raced["timing"] = {{"how", "race"}, {"configs", 12},      {"dropped", {7, 2}},
                       {"calls", 400},  {"device_s", 0.0625}, {"seconds", 0.25}};
    Json full = sweep(2, 64, 0.005);
    full["timing"] = {{"how", "full"}, {"configs", 12}, {"seconds", 1.5}};
    for (const Json& message : {raced, full, sweep(3, 64, 0.005)}) {
        ASSERT_TRUE(desk.take_tuned(message, Conditions::unknown));
    }
    const Json tuning = desk.tuning_json();
    const Json& timings = tuning["timings"];
    ASSERT_EQ(timings.size(), 2U);  // the third was told without
    EXPECT_EQ(timings[0]["key"], Json::array({128, 128, "torch.float16"}));
    EXPECT_EQ(timings[0]["how"], "race");
    EXPECT_EQ(timings[0]["configs"], 12);
    EXPECT_EQ(timings[0]["dropped"], Json::array({7, 2}));
    EXPECT_EQ(timings[0]["calls"], 400);
    EXPECT_EQ(timings[0]["device_s"], 0.0625);
    EXPECT_EQ(timings[1]["how"], "full");
    EXPECT_EQ(timings[1]["calls"], nullptr);
    EXPECT_EQ(timings[1]["device_s"], nullptr);
    const Json& kernel = tuning["kernels"][0];
    EXPECT_EQ(kernel["timed_configs"], 24);
    EXPECT_EQ(kernel["dropped"], 9);
    EXPECT_EQ(kernel["timing_seconds"], 1.75);
    EXPECT_EQ(kernel["timing_device_s"], 0.0625);
}

TEST_F(TuningDeskTest, ARaceThatCannotBeIsNotedOnce) {
    TuningSettings settings;
    settings.timing_warning = "--tune-timing race: no";
    auto desk = this->desk(TuningMode::record, settings);
    EXPECT_THAT(desk.lines(), ElementsAre("--tune-timing race: no"));
    EXPECT_EQ(desk.tuning_json()["notes"], Json::array({"--tune-timing race: no"}));
}

TEST_F(TuningDeskTest, AWinnerOfThisRunIsUsedByTheNextChild) {
    TuningDesk desk = this->desk(TuningMode::record);
    EXPECT_EQ((*desk.answer_winner(question(1, 384)))["type"], "tune");
    ASSERT_TRUE(desk.take_tuned(sweep(1, 64, 0.005), Conditions::quiet_serial));
    const std::string digest = case_digest(desk, {1});
    desk.begin_child();
    EXPECT_FALSE(desk.end_case(std::vector<long long>{1}));
    const Json answer = *desk.answer_winner(question(7, 384));
    EXPECT_EQ(answer["type"], "use");
    EXPECT_EQ(answer["config"]["BLOCK_M"], 64);
    EXPECT_EQ(case_digest(desk, {7}), digest);
    EXPECT_EQ(open("own").winners()->size(), 1U);
}

TEST_F(TuningDeskTest, KernelsOfOneNameAreKeptApartByTheirSource) {
    TuningDesk desk = this->desk(TuningMode::record);
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    ASSERT_TRUE(desk.take_tuned(sweep(1, 64, 0.005), Conditions::quiet_serial));
    EXPECT_EQ((*desk.answer_winner(question(2, 384, "source2")))["type"], "tune");
}

TEST_F(TuningDeskTest, AnEvictedWinnerOfThisRunNeverComesBack) {
    TuningDesk desk = this->desk(TuningMode::record);
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    ASSERT_TRUE(desk.take_tuned(sweep(1, 64, 0.005), Conditions::quiet_serial));
    desk.begin_child();
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    EXPECT_EQ((*desk.answer_failed(failure(1, 64, true)))["type"], "tune");
    EXPECT_EQ(open("own").winners()->size(), 0U);
    EXPECT_EQ(open("own").timings()->size(), 0U);
    desk.begin_child();
    const Json answer = *desk.answer_winner(question(3, 384));
    EXPECT_EQ(answer["type"], "tune");
    EXPECT_EQ(answer["exclude"][0]["BLOCK_M"], 64);
    const auto again = desk.take_tuned(sweep(3, 64, 0.005), Conditions::quiet_serial);
    EXPECT_EQ(again.error().message, "an evicted configuration of mm won again");
}

TEST_F(TuningDeskTest, AnEvictedWinnerOfTheSourceIsNotReadAgain) {
    record();
    TuningDesk desk = this->desk(TuningMode::replay);
    EXPECT_EQ((*desk.answer_winner(question(1, 384)))["type"], "use");
    EXPECT_EQ((*desk.answer_failed(failure(1, 64, true)))["exclude"][0]["BLOCK_M"], 64);
    desk.begin_child();
    EXPECT_EQ((*desk.answer_winner(question(1, 384)))["type"], "tune");
    ASSERT_TRUE(desk.take_tuned(sweep(1, 32, 0.006), Conditions::quiet_serial));
    EXPECT_THAT(desk.end_case(std::vector<long long>{1})->flags,
                ElementsAre("compile_timeout_evicted"));
    ASSERT_TRUE(desk.finish());
    const auto kept = *open("own").winners();
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].config["BLOCK_M"], 32);
    EXPECT_EQ(open("own").evictions()->at(0).kind, "timeout");
    EXPECT_EQ(desk.replay_json()["used"], 0);
}

TEST_F(TuningDeskTest, OnlyTheConfigurationInUseCanFail) {
    record();
    TuningDesk desk = this->desk(TuningMode::replay);
    EXPECT_FALSE(desk.answer_failed(failure(1, 64, true)));
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    EXPECT_EQ(desk.answer_failed(failure(1, 32, true)).error().message,
              "'winner_failed' of a configuration that is not in use");
}

TEST_F(TuningDeskTest, WhatCannotBeDroppedIsNotCalledEvicted) {
    record();
    TuningDesk desk = this->desk(TuningMode::replay);
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    EXPECT_EQ((*desk.answer_failed(failure(1, 64, false, "error")))["type"], "go");
    EXPECT_THAT(desk.end_case(std::vector<long long>())->flags,
                ElementsAre("compile_error_no_evict"));
    EXPECT_THAT(desk.lines()[0], HasSubstr("could not be dropped: mm at [384,384,"));
    EXPECT_EQ(open("own").evictions()->size(), 0U);
}

TEST_F(TuningDeskTest, AStrictMissNamesAllKeysOfAChangedKernel) {
    record();
    TuningDesk desk = this->desk(TuningMode::replay);
    const Json answer = *desk.answer_winner(question(1, 384, "source2"));
    EXPECT_EQ(answer["type"], "stop");
    EXPECT_THAT(answer["reason"].get<std::string>(),
                HasSubstr("kernel source changed; kernel_source_hash: recorded source1, now "
                          "source2; 0 of 2 recorded winners used"));
    EXPECT_EQ(*desk.refusal(), answer["reason"]);
    ASSERT_EQ(desk.replay_json()["misses"].size(), 2U);
    EXPECT_EQ(desk.replay_json()["misses"][1]["key"][0], 1024);
    EXPECT_THAT(desk.lines(), ::testing::Contains("mm: 0 of 2 recorded winners used"));
}

TEST_F(TuningDeskTest, AnAllowedMissIsCountedOnceThoughTwoChildrenAsk) {
    record();
    TuningSettings settings;
    settings.allow_misses = true;
    TuningDesk desk = this->desk(TuningMode::replay, settings);
    EXPECT_EQ((*desk.answer_winner(question(1, 2048)))["type"], "tune");
    desk.begin_child();
    EXPECT_EQ((*desk.answer_winner(question(1, 2048)))["type"], "tune");
    ASSERT_TRUE(desk.take_tuned(sweep(1, 32, 0.006), Conditions::quiet_serial));
    EXPECT_THAT(desk.end_case(std::vector<long long>{1})->flags, ElementsAre("replay_miss"));
    EXPECT_EQ(desk.replay_json()["misses"].size(), 1U);
    EXPECT_FALSE(desk.refusal());
}

TEST_F(TuningDeskTest, ATunerThatTunesAllTheSameIsNotCalledReplayed) {
    record();
    TuningDesk desk = this->desk(TuningMode::replay);
    EXPECT_EQ((*desk.answer_winner(question(1, 384)))["type"], "use");
    ASSERT_TRUE(desk.take_tuned(sweep(1, 32, 0.004), Conditions::quiet_serial));
    EXPECT_THAT(desk.end_case(std::vector<long long>{1})->flags, ElementsAre("replay_miss"));
    EXPECT_EQ(desk.replay_json()["used"], 0);
    EXPECT_THAT(desk.lines()[0], HasSubstr("tuned live by a tuner that takes no recorded winner"));
}

TEST_F(TuningDeskTest, AnAcceptedDifferenceIsAFlag) {
    record();
    TuningSettings settings;
    settings.accepted = {"driver"};
    settings.known.driver = "999";
    TuningDesk desk = this->desk(TuningMode::replay, settings);
    EXPECT_EQ((*desk.answer_winner(question(1, 384)))["type"], "use");
    EXPECT_THAT(desk.end_case(std::vector<long long>{1})->flags,
                ElementsAre("replay_scope_accepted:driver"));
}

TEST_F(TuningDeskTest, ACaseIsKnownByTheWinnersThatItUsed) {
    record();
    TuningDesk desk = this->desk(TuningMode::replay);
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    ASSERT_TRUE(desk.answer_winner(question(2, 1024)));
    EXPECT_EQ(case_digest(desk, {}), "");
    EXPECT_NE(case_digest(desk, {1}), case_digest(desk, {2}));
    EXPECT_EQ(case_digest(desk, {1, 2}), case_digest(desk, {2, 1}));
    EXPECT_EQ(case_digest(desk, {1, 2}), desk.winners_digest());
    ASSERT_TRUE(desk.finish());
    EXPECT_EQ(winners_digest(*open("own").winners()), desk.winners_digest());
}

TEST_F(TuningDeskTest, TimesThatAreNoneMakeNoWinner) {
    for (const Json& time : {Json("inf"), Json(nullptr)}) {
        TuningDesk desk = this->desk(TuningMode::record);
        ASSERT_TRUE(desk.answer_winner(question(1, 384)));
        ASSERT_TRUE(desk.take_tuned(sweep(1, 64, time), Conditions::quiet_serial));
        EXPECT_EQ(open("own").winners()->size(), 0U);
        EXPECT_EQ(open("own").timings()->size(), 1U);
        EXPECT_THAT(desk.lines()[0], HasSubstr("no usable time, so no winner is kept"));
    }
}

TEST_F(TuningDeskTest, TheTimeOfTheWinnerMayStandInTheListOnly) {
    TuningDesk desk = this->desk(TuningMode::record);
    ASSERT_TRUE(desk.answer_winner(question(1, 384)));
    Json part = sweep(1, 64, 0.005);
    part["more"] = true;
    EXPECT_EQ(*desk.take_tuned(part, Conditions::noisy), "");
    Json last = sweep(1, 64, nullptr);
    last["timings"] = Json::array();
    EXPECT_EQ(*desk.take_tuned(last, Conditions::noisy), "mm");
    const auto winners = *open("own").winners();
    ASSERT_EQ(winners.size(), 1U);
    EXPECT_EQ(winners[0].times.p50, 0.005);
    EXPECT_EQ(winners[0].conditions, Conditions::noisy);
}

TEST_F(TuningDeskTest, WhatIsNoMessageOfTuningIsAnErrorOfTheProtocol) {
    TuningDesk off;
    EXPECT_EQ(off.answer_winner(question(1, 384)).error().message,
              "'winner', though tuning is off");
    TuningDesk desk = this->desk(TuningMode::record);
    for (const char* gone : {"id", "kernel", "key"}) {
        Json asked = question(1, 384);
        asked.erase(gone);
        EXPECT_EQ(desk.answer_winner(asked).error().kind, ErrorKind::failed) << gone;
    }
    EXPECT_FALSE(desk.take_tuned(sweep(1, 64, 1), Conditions::noisy));
    EXPECT_FALSE(desk.end_case(std::vector<long long>{1}));
}

TEST_F(TuningDeskTest, WhatWasCompiledAheadIsSummedOverAKernelsKeys) {
    TuningDesk desk = this->desk(TuningMode::record);
    const Json compile = {{"jobs", 16},     {"ahead", 10},         {"hits", 9},       {"misses", 1},
                          {"seconds", 4.5}, {"cpu_seconds", 30.0}, {"waited_s", 0.25}};
    for (const int id : {1, 2}) {
        ASSERT_TRUE(desk.answer_winner(question(id, 384 * id)));
        Json tuned = sweep(id, 64, 0.005);
        if (id == 1) tuned["compile"] = compile;
        ASSERT_TRUE(desk.take_tuned(tuned, Conditions::quiet_serial));
    }
    const Json kernel = desk.tuning_json()["kernels"][0];
    EXPECT_EQ(kernel["tuned"], 2);
    EXPECT_EQ(kernel["compiled_ahead"], 10);
    EXPECT_EQ(kernel["compile_hits"], 9);
    EXPECT_EQ(kernel["compile_misses"], 1);
    EXPECT_EQ(kernel["compile_seconds"], 4.5);
    EXPECT_EQ(kernel["compile_cpu_seconds"], 30.0);
    EXPECT_EQ(kernel["compile_waited_s"], 0.25);
}

TEST_F(TuningDeskTest, OnlyTheDisputedOneOfTwoKernelsOfOneNameIsConfirmed) {
    auto store = open("warmed");
    Winner one = tuned(384, 64, 0.5);
    one.scope.kernel_source_hash = "source1";
    Winner other = tuned(384, 32, 0.5);
    other.scope.kernel_source_hash = "source2";
    ASSERT_TRUE(store.record(one, {}));
    ASSERT_TRUE(store.record(other, {}));
    WarmedKeys keys{
        *Replay::open(folder_.path() / "warmed"), {}, WarmedKeys::Confirm::disputed, {}};
    const Json sides = Json::array({one.config, {{"BLOCK_M", 128}}});
    keys.disputed[place_of(one.key.kernel, one.key.space, lookup_text(one.key.key), one.scope)] =
        sides;
    TuningDesk warmed = desk(TuningMode::record);
    warmed.use_warmed(std::move(keys));
    const auto first = warmed.answer_winner(question(1, 384, "source1"));
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ((*first)["type"], "tune");
    EXPECT_EQ((*first)["only"], sides);
    const auto second = warmed.answer_winner(question(2, 384, "source2"));
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ((*second)["type"], "use");
    EXPECT_EQ((*second)["config"], other.config);
}

}  // namespace
}  // namespace opgauge
