// SPDX-License-Identifier: Apache-2.0
#include "operators/script.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace opgauge::operators {
namespace {

void pause_ms(const Json& from) {
    const int milliseconds = get_optional<int>(from, "delay_ms").value_or(0);
    if (milliseconds > 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// "segv", "abort", "kill", "hang", "exit:N".
void misbehave(const Json& from) {
    const std::string how = get_string(from, "crash");
    if (how.empty()) return;
    if (how == "segv") ::raise(SIGSEGV);
    if (how == "abort") std::abort();
    if (how == "kill") ::raise(SIGKILL);
    if (how == "hang") {
        while (true) ::pause();
    }
    if (how.starts_with("exit:")) {
        ::_exit(static_cast<int>(parse_unsigned(how.substr(5)).value_or(1)));
    }
    throw std::runtime_error("a script's crash is none of segv, abort, kill, hang, exit:N");
}

// The scripted values of a side, handed out in a circle.
std::vector<double> next_values(const Json& side, int count, std::size_t& position) {
    const auto list = side.find("values_ns");
    if (list == side.end() || !list->is_array() || list->empty()) {
        throw std::runtime_error("a scripted side has no values_ns");
    }
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
        values.push_back((*list)[position % list->size()].get<double>());
        ++position;
    }
    return values;
}

void play_side(ChannelClient& channel, const std::string& name, const Json& side) {
    pause_ms(side);
    misbehave(side);
    const std::string timer = get_string(side, "timer", "host");
    Json answer =
        channel.ask("side_begin", {{"side", name},
                                   {"timer", timer},
                                   {"first_call_ns", side.value("first_call_ns", Json(nullptr))},
                                   {"estimate_ns", side.value("estimate_ns", Json(nullptr))}});
    const Json burst = side.value("burst", Json::object());
    std::size_t position = 0;
    while (get_string(answer, "type") != "enough") {
        pause_ms(burst);
        misbehave(burst);
        const int count = get_optional<int>(answer, "samples").value_or(1);
        answer = channel.ask(
            "samples",
            {{"side", name},
             {"timer", timer},
             {"calls_per_sample", get_optional<int>(answer, "calls_per_sample").value_or(1)},
             {"values_ns", next_values(side, count, position)},
             {"complete", get_optional<bool>(side, "complete").value_or(false)},
             {"settings", Json::object()}});
    }
    channel.tell("side_end", {{"side", name}});
}

// The device that the parent planned and whether this child only tunes: steps may depend on both.
struct Place {
    std::string device;
    bool tune_only = false;
};

// What live tuning finds here.
Json tuned_parts(const Json& step, const Place& place) {
    const Json on = step.value("tuned_on", Json::object());
    if (on.contains(place.device)) return on.at(place.device);
    if (place.tune_only && step.contains("tuned_warming")) return step.at("tuned_warming");
    return step.value("tuned", Json::array());
}

// Tunes live as the parent says, or uses its winner.
void play_tuning(ChannelClient& channel, const Json& step, const Place& place) {
    Json answer = channel.ask("winner", step.at("winner"));
    const auto failure = step.find("winner_failed");
    if (get_string(answer, "type") == "use" && failure != step.end()) {
        Json failed = *failure;
        failed["config"] = answer.at("config");
        answer = channel.ask("winner_failed", failed);
    }
    if (get_string(answer, "type") == "stop") ::_exit(kStopped);
    if (get_string(answer, "type") != "tune") return;
    pause_ms(step);
    for (const auto& part : tuned_parts(step, place)) channel.tell("tuned", part);
    misbehave({{"crash", get_string(step.value("crash_on", Json::object()), place.device)}});
    misbehave(step);
}

void play_case(ChannelClient& channel, const Json& scripted, int index, std::size_t planned,
               Place place) {
    const Json answer = channel.ask(
        "case_begin", {{"case", scripted.at("case")}, {"index", index}, {"planned", planned}});
    if (get_string(answer, "type") == "skip") return;
    place.tune_only = get_optional<bool>(answer, "tune_only").value_or(false);
    pause_ms(scripted);
    misbehave(scripted);
    for (const auto& step : scripted.value("tuning", Json::array())) {
        play_tuning(channel, step, place);
    }
    for (const char* name : {"base", "candidate"}) {
        if (scripted.contains(name) && !place.tune_only)
            play_side(channel, name, scripted.at(name));
    }
    Json end = {{"status", "ok"}};
    end.update(scripted.value("end", Json::object()));
    channel.tell("case_end", end);
    misbehave(scripted.value("after", Json::object()));
}

void play_test(ChannelClient& channel, const Json& test, const std::string& device) {
    const std::string node = get_string(test, "node", "fake::test");
    channel.tell("test_begin", {{"node", node}});
    const Json cases = test.value("cases", Json::array());
    int index = 0;
    for (const auto& scripted : cases) {
        play_case(channel, scripted, ++index, cases.size(), {device});
    }
    misbehave(test);
    channel.tell("test_end", {{"node", node},
                              {"outcome", get_string(test, "outcome", "passed")},
                              {"reason", get_string(test, "reason")},
                              {"seconds", 0}});
    misbehave(test.value("after", Json::object()));
}

}  // namespace

int play_script(ChannelClient& channel, const std::string& file) {
    const auto script = read_json_file(file);
    if (!script) throw std::runtime_error(script.error().message);
    const Json job =
        channel.ask("hello", {{"protocol", get_optional<int>(*script, "protocol").value_or(1)},
                              {"pid", ::getpid()},
                              {"child", "native"},
                              {"version", "script"},
                              {"visible", Json::object()}});
    const Json planned = job.value("device", Json::object());
    Json device = {{"backend", "fake"},
                   {"count", 1},
                   {"name", get_string(planned, "name", "Fake Accelerator")},
                   {"uuid", get_string(planned, "uuid", "FAKE-0000")}};
    device.update(script->value("device", Json::object()));
    if (get_string(channel.ask("device", device), "type") != "go") return kStopped;
    const Json tests = script->value("tests", Json::array());
    Json nodes = Json::array();
    for (const auto& test : tests) nodes.push_back(get_string(test, "node", "fake::test"));
    channel.tell("collected", {{"nodes", nodes},
                               {"errors", script->value("collect_errors", Json::array())},
                               {"deselected", 0}});
    const auto done = get_optional<std::vector<std::string>>(job, "skip_nodes");
    for (const auto& test : tests) {
        const std::string node = get_string(test, "node", "fake::test");
        if (done && std::find(done->begin(), done->end(), node) != done->end()) continue;
        play_test(channel, test, get_string(planned, "uuid"));
    }
    channel.tell("bye", {{"exit", 0}});
    return get_optional<int>(*script, "exit").value_or(0);
}

}  // namespace opgauge::operators
