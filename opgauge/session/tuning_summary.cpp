// SPDX-License-Identifier: Apache-2.0
// What the tuning desk says at the end of a run.
#include "opgauge/base/text.h"
#include "opgauge/session/tuning_desk.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr std::size_t kShownMisses = 20;

// Members of a kernel's object: sums over its keys.
void add_compile(Json& kernel, const CompileCount& count) {
    const auto add = [&kernel](const char* name, double value) {
        kernel[name] = kernel.value(name, 0.0) + value;
    };
    kernel["compiled_ahead"] = kernel.value("compiled_ahead", 0LL) + count.ahead;
    kernel["compile_hits"] = kernel.value("compile_hits", 0LL) + count.hits;
    kernel["compile_misses"] = kernel.value("compile_misses", 0LL) + count.misses;
    add("compile_seconds", count.seconds);
    add("compile_cpu_seconds", count.cpu_seconds);
    add("compile_waited_s", count.waited_s);
}

void add_timing(Json& kernel, const TimingCount& count) {
    kernel["timed_configs"] = kernel.value("timed_configs", 0LL) + count.configs;
    kernel["dropped"] = kernel.value("dropped", 0LL) + count.dropped[0] + count.dropped[1];
    kernel["timing_seconds"] = kernel.value("timing_seconds", 0.0) + count.seconds;
    if (!count.device_s) return;
    kernel["timing_device_s"] = kernel.value("timing_device_s", 0.0) + *count.device_s;
}

Json miss_json(const ReplayMiss& one) {
    Json differences = Json::array();
    for (const auto& difference : one.miss.differences) {
        differences.push_back({{"fact", difference.fact},
                               {"recorded", difference.recorded},
                               {"now", difference.now}});
    }
    return {{"kernel", one.key.kernel},
            {"space", one.key.space},
            {"key", one.key.key},
            {"reason", name_of(one.miss.reason)},
            {"differences", differences}};
}

}  // namespace

std::size_t TuningDesk::used() const {
    return static_cast<std::size_t>(std::count_if(
        keys_.begin(), keys_.end(), [](const auto& entry) { return entry.second.replayed; }));
}

std::string TuningDesk::summary() const {
    return fmt::format("{} of {} recorded winners used", used(), source_->recorded());
}

std::map<std::string, Json> TuningDesk::kernels() const {
    std::map<std::string, Json> kernels;
    for (const auto& [identity, state] : keys_) {
        Json& one = kernels[state.asked.key.kernel];
        if (one.is_null()) {
            one = {{"kernel", state.asked.key.kernel},
                   {"tuned", 0},
                   {"replayed", 0},
                   {"missed", 0},
                   {"evicted", 0},
                   {"seconds", 0.0}};
        }
        const auto add = [&one](const char* name, bool yes) {
            one[name] = one[name].get<int>() + static_cast<int>(yes);
        };
        add("tuned", state.sweeps > 0);
        add("replayed", state.replayed);
        add("missed", state.missed);
        add("evicted", !state.excluded.empty());
        one["seconds"] = one["seconds"].get<double>() + state.seconds;
        add_compile(one, state.compile);
        add_timing(one, state.timing);
    }
    return kernels;
}

// How each key that was tuned live was timed.
Json TuningDesk::timings() const {
    Json list = Json::array();
    for (const auto& [identity, state] : keys_) {
        if (state.timing.how.empty()) continue;
        Json one = {{"kernel", state.asked.key.kernel},
                    {"space", state.asked.key.space},
                    {"key", state.asked.key.key}};
        one.update(to_json(state.timing));
        list.push_back(std::move(one));
    }
    return list;
}

Json TuningDesk::tuning_json() const {
    if (settings_.mode == TuningMode::off) return nullptr;
    Json list = Json::array();
    for (auto& [name, kernel] : kernels()) list.push_back(kernel);
    Json counts = Json::object();
    for (const auto& [name, count] : counts_) counts[name] = count;
    const std::string digest = winners_digest();
    return {{"mode", name_of(settings_.mode)},
            {"winners_digest", digest.empty() ? Json(nullptr) : Json(digest)},
            {"kernels", list},
            {"timings", timings()},
            {"hooks", counts},
            {"notes", notes_}};
}

Json TuningDesk::replay_json() const {
    if (!source_) return nullptr;
    Json misses = Json::array();
    for (const auto& miss : misses_) misses.push_back(miss_json(miss));
    return {{"source", settings_.source},
            {"recorded", source_->recorded()},
            {"used", used()},
            {"misses", misses}};
}

std::vector<std::string> TuningDesk::lines() const {
    std::vector<std::string> lines = notes_;
    for (const auto& miss : misses_) {
        if (&miss - misses_.data() == static_cast<std::ptrdiff_t>(kShownMisses)) {
            lines.push_back(
                fmt::format("{} more misses; status.json has all", misses_.size() - kShownMisses));
            break;
        }
        lines.push_back("missing: " + miss_text(miss.key, miss.miss));
    }
    if (!source_) return lines;
    for (const auto& [name, kernel] : kernels()) {
        const auto recorded = source_->by_kernel().find(name);
        const bool whole = kernel.at("missed").get<int>() > 0 && kernel.at("replayed") == 0;
        if (!whole || recorded == source_->by_kernel().end()) continue;
        lines.push_back(fmt::format("{}: 0 of {} recorded winners used", printable(name),
                                    recorded->second.size()));
    }
    lines.push_back(summary());
    return lines;
}

}  // namespace opgauge
