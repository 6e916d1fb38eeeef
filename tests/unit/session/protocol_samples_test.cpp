// SPDX-License-Identifier: Apache-2.0
// The parent on the sample conversations that the child is tested on too (tests/data/protocol).
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {
namespace {

struct Sample {
    std::string name;
    Json head;
    std::vector<Json> lines;
};

Sample read_sample(const std::filesystem::path& file) {
    Sample sample;
    sample.name = file.stem().string();
    const auto text = read_file(file);
    if (!text) return sample;
    for (const auto line : lines_of(*text)) {
        Json parsed = Json::parse(line);
        if (sample.head.is_null()) {
            sample.head = std::move(parsed);
        } else {
            sample.lines.push_back(std::move(parsed));
        }
    }
    return sample;
}

std::vector<Sample> parents_samples() {
    std::vector<Sample> samples;
    const std::filesystem::path folder =
        std::filesystem::path(OPGAUGE_SOURCE_DIR) / "tests" / "data" / "protocol";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".jsonl") continue;
        Sample sample = read_sample(entry.path());
        const auto sides = sample.head.at("played_by").get<std::vector<std::string>>();
        if (std::find(sides.begin(), sides.end(), "parent") != sides.end()) {
            samples.push_back(std::move(sample));
        }
    }
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.name < b.name; });
    return samples;
}

JobSettings job_of(const Sample& sample) {
    const Json& job = sample.head.at("job");
    JobSettings settings;
    settings.backend = job.at("backend");
    settings.device = job.at("device");
    settings.timer = job.at("timer");
    return settings;
}

TuningMode mode_of(const std::string& name) {
    for (const auto mode : {TuningMode::record, TuningMode::replay}) {
        if (name_of(mode) == name) return mode;
    }
    return TuningMode::off;
}

// The desk of a run as the sample's head describes it; its files lie in `folder`.
TuningDesk desk_of(const Sample& sample, const std::filesystem::path& folder) {
    const Json& job = sample.head.at("job");
    TuningSettings settings;
    settings.mode = mode_of(get_string(job, "tune", "off"));
    settings.allow_misses = job.value("allow_misses", false);
    std::optional<Replay> source;
    if (sample.head.contains("recorded")) {
        auto store = TuningStore::open(folder / "source.db", DatabaseAccess::create);
        for (const auto& entry : sample.head.at("recorded")) {
            Json asked = entry;
            asked["id"] = 1;
            const auto question = read_winner(asked, Scope());
            const auto sweep = read_tuned(entry, *question, Conditions::quiet_serial, {});
            EXPECT_TRUE(store->record(*sweep->winner, {}));
        }
        source = std::move(*Replay::open(folder / "source.db"));
    }
    return {settings, std::move(*TuningStore::open(folder / "own.db", DatabaseAccess::create)),
            std::move(source)};
}

// The order of members means nothing; Json keeps it and compares it.
nlohmann::json unordered(const Json& value) {
    return nlohmann::json::parse(value.dump());
}

// Plays the child's lines; what the parent answers must be the parent's lines.
void play(const Sample& sample, Conversation& talk) {
    std::optional<Json> waiting;
    for (const auto& line : sample.lines) {
        const Json& message = line.at("message");
        if (line.at("from") == "parent") {
            ASSERT_TRUE(waiting) << "no answer where the sample has " << message;
            EXPECT_EQ(unordered(*waiting), unordered(message));
            waiting.reset();
            continue;
        }
        ASSERT_FALSE(waiting) << "answered where the sample has none: " << *waiting;
        waiting = talk.on_message(message);
        if (waiting) (*waiting)["to"] = message.at("seq");  // as the supervisor adds it
    }
    EXPECT_FALSE(waiting);
}

TEST(ProtocolSamples, ThereIsOneOfEachKind) {
    std::vector<std::string> names;
    for (const auto& sample : parents_samples()) names.push_back(sample.name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"another_protocol", "failing_case", "good_run",
                                        "guard_refusal", "message_unknown", "skipped_case",
                                        "tuning_evicted", "tuning_miss", "tuning_miss_allowed",
                                        "tuning_not_evicted", "tuning_record", "tuning_replay"}));
}

TEST(ProtocolSamples, TheParentAnswersAsTheyDo) {
    for (const auto& sample : parents_samples()) {
        SCOPED_TRACE(sample.name);
        const testing::FakeClock clock;
        RunObserver observer;
        Json rows = Json::array();
        Json flags = Json::array();
        const auto keep = [&](const Row& row, const std::optional<SideSamples>&,
                              const std::optional<SideSamples>&) -> Result<void> {
            rows.push_back(name_of(row.status));
            flags.push_back(row.flags);
            return {};
        };
        const testing::TempDir folder;
        TuningDesk desk = desk_of(sample, folder.path());
        DeviceWatch watch(nullptr, Heat::burst, clock);
        Conversation talk(
            job_of(sample), CaptureMemory(), watch, clock, observer, keep, [](const Json&) {},
            &desk);
        play(sample, talk);
        const Json& expect = sample.head.at("expect");
        EXPECT_EQ(rows, expect.at("rows"));
        EXPECT_EQ(optional_json(talk.wants_stop()), expect.at("stop"));
        EXPECT_EQ(optional_json(talk.result().guard_refusal), expect.value("guard", Json(nullptr)));
        EXPECT_EQ(flags, expect.value("flags", flags));
        EXPECT_EQ(optional_json(talk.result().replay_refusal),
                  expect.value("refused", Json(nullptr)));
    }
}

}  // namespace
}  // namespace opgauge
