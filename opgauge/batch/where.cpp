// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

bool has_word(const std::vector<std::string>& words, const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string tune_hint(const Batch& batch) {
    if (get_string(batch.facts, "tune") == "replay") {
        return "its source lacks keys: record a batch, then replay that one with --from";
    }
    const std::string replay = "--tune replay --from THIS_BATCH uses its winners again";
    if (get_string(batch.facts, "tune_timing") == "race") return replay;
    return replay + "; --tune-timing race tunes new ones in less time";
}

// Lanes of the native corpus cannot share a device.
std::string more_lanes_hint(const Batch& batch, const char* does) {
    const bool native = get_string(batch.facts, "corpus.name") == "native";
    if (native || batch.lanes_per_device > 1) return "";
    return fmt::format("--lanes-per-device 2 {} one operator while another one measures", does);
}

std::string start_hint(const Batch& batch) {
    if (has_word(batch.lane_options, "--no-fork-server")) return "leave --no-fork-server out";
    return more_lanes_hint(batch, "starts");
}

std::string import_hint(const Batch& batch) {
    if (has_word(batch.lane_options, "--no-fork-server")) {
        return "leave --no-fork-server out: children are then forked with all imported";
    }
    return "see lanes/*.log for why its child was not forked with all imported "
           "(docs/fork_server.md)";
}

std::string wait_hint(const Batch& batch) {
    if (batch.lanes_per_device > 1) return "fewer --lanes-per-device";
    return "measure when no other process of this host does, or with --parallel-measure";
}

std::string measure_hint(const Batch& batch) {
    if (has_word(batch.run_options, "--max-time"))
        return "a wider --precision, or a shorter --max-time";
    return "a wider --precision (0.005) or a shorter --max-time (0.25)";
}

void add_operators(const Batch& batch, BatchTime& time) {
    for (const auto& item : batch.items) {
        if (item.state != EntryState::finished) {
            ++time.unfinished;
            continue;
        }
        if (!item.result.time) {
            if (item.entry.problem.empty()) ++time.unknown;
            continue;
        }
        ++time.known;
        const TimeParts& parts = *item.result.time;
        time.parts.add(parts);
        const TimePart largest = parts.largest();
        time.costliest.push_back({item.entry.name, parts, largest, ""});
    }
}

}  // namespace

std::string hint_for(TimePart part, const Batch& batch) {
    switch (part) {
        case TimePart::tune:
            return tune_hint(batch);
        case TimePart::compile:
            return "keep Triton's cache folder (TRITON_CACHE_DIR) between batches; more "
                   "--compile-jobs";
        case TimePart::start:
            return start_hint(batch);
        case TimePart::imports:
            return import_hint(batch);
        case TimePart::wait:
            return wait_hint(batch);
        case TimePart::measure:
            return measure_hint(batch);
        case TimePart::inputs:
        case TimePart::first_calls:
            return "fewer or smaller cases: --shapes, --dtypes, --level";
        case TimePart::check:
            return "smaller --shapes; --no-check compares no outputs";
        case TimePart::end:
            return more_lanes_hint(batch, "ends");
        case TimePart::lost:
            return "see its status: what crashes is quarantined and left out by the next batch";
        case TimePart::warmup:
        case TimePart::idle:
        case TimePart::other:
        case TimePart::count_:
            break;
    }
    return "";
}

BatchTime time_of(const Batch& batch) {
    BatchTime time;
    if (batch.lane_seconds > 0) time.lane_seconds = batch.lane_seconds;
    time.parts = batch.outside;
    add_operators(batch, time);
    auto& costliest = time.costliest;
    std::stable_sort(costliest.begin(), costliest.end(),
                     [](const auto& a, const auto& b) { return a.parts.sum() > b.parts.sum(); });
    if (costliest.size() > BatchTime::kCostliest) costliest.resize(BatchTime::kCostliest);
    for (auto& one : costliest) one.hint = hint_for(one.largest, batch);
    return time;
}

Json to_json(const BatchTime& time) {
    Json operators = Json::array();
    for (const auto& one : time.costliest) {
        operators.push_back({{"name", one.name},
                             {"seconds", one.parts.sum()},
                             {"largest", name_of(one.largest)},
                             {"parts", to_json(one.parts)},
                             {"hint", one.hint}});
    }
    return {{"lane_seconds", optional_json(time.lane_seconds)},
            {"seconds", time.parts.sum()},
            {"parts", to_json(time.parts)},
            {"known", time.known},
            {"unknown", time.unknown},
            {"unfinished", time.unfinished},
            {"operators", std::move(operators)}};
}

}  // namespace opgauge
