// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_messages.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

tl::unexpected<Error> wrong(const Json& message, std::string_view what) {
    return fail(ErrorKind::failed,
                fmt::format("'{}' {}", printable(get_string(message, "type")), what));
}

std::optional<Json> array_at(const Json& message, const char* name) {
    const auto member = message.find(name);
    if (member == message.end() || !member->is_array()) return std::nullopt;
    return *member;
}

std::optional<Json> config_at(const Json& message) {
    const auto member = message.find("config");
    if (member == message.end() || !member->is_object()) return std::nullopt;
    return *member;
}

double time_of(const Json& value) {
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

Times times_of(const Json& message) {
    const auto list = array_at(message, "times");
    if (!list || list->size() != 3) return {};
    return {time_of((*list)[0]), time_of((*list)[1]), time_of((*list)[2])};
}

// The child may leave out the times of the winner: they stand in the list.
Times times_of_winner(const Json& message, const Sweep& sweep, const Json& config) {
    const Times times = times_of(message);
    if (times.usable()) return times;
    const std::string id = config_id(config);
    const auto same = std::find_if(sweep.timings.begin(), sweep.timings.end(),
                                   [&](const Timing& one) { return config_id(one.config) == id; });
    return same == sweep.timings.end() ? times : same->times;
}

CompileCount compile_of(const Json& message) {
    const Json facts = message.value("compile", Json::object());
    const auto count = [&facts](const char* name) {
        return get_optional<long long>(facts, name).value_or(0);
    };
    const auto seconds = [&facts](const char* name) {
        return std::max(0.0, get_optional<double>(facts, name).value_or(0));
    };
    return {count("ahead"),     count("hits"),          count("misses"),
            seconds("seconds"), seconds("cpu_seconds"), seconds("waited_s")};
}

TimingCount timing_of(const Json& message) {
    const Json facts = message.value("timing", Json::object());
    TimingCount count;
    count.how = printable(get_string(facts, "how"));
    count.configs = get_optional<long long>(facts, "configs").value_or(0);
    count.dropped =
        get_optional<std::array<long long, 2>>(facts, "dropped").value_or(count.dropped);
    count.calls = get_optional<long long>(facts, "calls");
    count.device_s = get_optional<double>(facts, "device_s");
    count.seconds = std::max(0.0, get_optional<double>(facts, "seconds").value_or(0));
    return count;
}

template <typename Number>
void add_known(std::optional<Number>& sum, const std::optional<Number>& other) {
    if (other) sum = sum.value_or(0) + *other;
}

}  // namespace

void TimingCount::add(const TimingCount& other) {
    if (other.how.empty()) return;
    how = other.how;
    configs += other.configs;
    for (std::size_t round = 0; round < dropped.size(); ++round) {
        dropped.at(round) += other.dropped.at(round);
    }
    add_known(calls, other.calls);
    add_known(device_s, other.device_s);
    seconds += other.seconds;
}

Json to_json(const TimingCount& count) {
    return {{"how", count.how},
            {"configs", count.configs},
            {"dropped", count.dropped},
            {"calls", optional_json(count.calls)},
            {"device_s", optional_json(count.device_s)},
            {"seconds", count.seconds}};
}

void CompileCount::add(const CompileCount& other) {
    ahead += other.ahead;
    hits += other.hits;
    misses += other.misses;
    seconds += other.seconds;
    cpu_seconds += other.cpu_seconds;
    waited_s += other.waited_s;
}

Result<long long> read_key_id(const Json& message) {
    const auto id = get_optional<long long>(message, "id");
    if (!id || *id <= 0) return wrong(message, "without an id");
    return *id;
}

Result<KeyQuestion> read_winner(const Json& message, const Scope& known) {
    KeyQuestion asked;
    OPGAUGE_TRY_ASSIGN(asked.id, read_key_id(message));
    asked.key.kernel = get_string(message, "kernel");
    asked.key.space = get_string(message, "space");
    auto key = array_at(message, "key");
    if (asked.key.kernel.empty() || !key) return wrong(message, "without a kernel or a key");
    asked.key.key = std::move(*key);
    asked.key.raw_key = array_at(message, "raw_key").value_or(Json::array());
    asked.scope = known;
    const Json facts = message.value("facts", Json::object());
    asked.scope.kernel_source_hash = get_string(facts, "kernel_source_hash");
    asked.scope.triton_source_hash = get_string(facts, "triton_source_hash");
    asked.scope.config_list_digest = get_string(facts, "config_list_digest");
    asked.scope.tuning_timer = get_string(facts, "tuning_timer");
    asked.scope.compiler = get_string(facts, "compiler");
    return asked;
}

Result<Sweep> read_tuned(const Json& message, const KeyQuestion& asked, Conditions conditions,
                         std::vector<Timing> before) {
    Sweep sweep;
    sweep.timings = std::move(before);
    sweep.more = get_optional<bool>(message, "more").value_or(false);
    TunedConfig one;
    one.key = asked.key;
    one.scope = asked.scope;
    one.conditions = conditions;
    Timing timing = one;
    timing.key.space = get_string(message, "benchmark_space");
    timing.key.key = array_at(message, "benchmark_key").value_or(asked.key.key);
    for (const auto& entry : array_at(message, "timings").value_or(Json::array())) {
        const auto config = config_at(entry);
        if (!config) return wrong(message, "with a timing without its config");
        timing.config = *config;
        timing.times = times_of(entry);
        sweep.timings.push_back(timing);
    }
    if (sweep.more) return sweep;
    sweep.seconds = std::max(0.0, get_optional<double>(message, "seconds").value_or(0));
    sweep.timed = get_optional<long long>(message, "timed").value_or(0);
    sweep.compile = compile_of(message);
    sweep.timing = timing_of(message);
    sweep.failed = array_at(message, "failed").value_or(Json::array()).size();
    if (const auto config = config_at(message)) {
        one.config = *config;
        one.times = times_of_winner(message, sweep, *config);
        sweep.winner = std::move(one);
    }
    return sweep;
}

Result<FailedWinner> read_winner_failed(const Json& message) {
    FailedWinner failed;
    const auto config = config_at(message);
    if (!config) return wrong(message, "without the config that failed");
    failed.config = *config;
    const std::string kind = get_string(message, "kind");
    for (const auto known :
         {EvictionKind::error, EvictionKind::out_of_resources, EvictionKind::timeout}) {
        if (name_of(known) == kind) failed.kind = known;
    }
    failed.message = printable(get_string(message, "message"));
    failed.can_drop = get_optional<bool>(message, "can_drop").value_or(false);
    return failed;
}

}  // namespace opgauge
