// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/run/supervisor.h"

#include "tests/support/temp_dir.h"

#include <sys/wait.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace opgauge::testing {

inline std::string child_program(const std::string& name) {
    return std::string(OPGAUGE_BINARY_DIR) + "/tests/children/" + name;
}

// Keeps what a child says and does what the test tells it to.
class Listener : public ChildHandler {
  public:
    std::optional<Json> on_message(const Json& message) override {
        messages.push_back(message);
        return answer ? answer(message) : std::nullopt;
    }
    bool answers_later() const override { return later != nullptr && !late; }
    std::optional<Json> late_answer() override {
        late = later();
        return late;
    }
    void on_tick() override {
        ++ticks;
        if (tick) tick();
    }
    std::optional<std::string> wants_stop() override { return stop; }

    // The texts of the rows that have come.
    std::vector<std::string> rows() const {
        std::vector<std::string> texts;
        for (const auto& message : messages) {
            if (get_string(message, "type") == "log") texts.push_back(get_string(message, "text"));
        }
        return texts;
    }

    std::vector<Json> messages;
    int ticks = 0;
    std::function<std::optional<Json>(const Json&)> answer;
    std::function<std::optional<Json>()> later;  // the answer that `answer` did not give
    std::optional<Json> late;
    std::function<void()> tick;
    std::optional<std::string> stop;
};

// Limits that keep a test short where the child must be killed.
inline ChildLimits short_limits() {
    ChildLimits limits;
    limits.interrupt = std::chrono::milliseconds(150);
    limits.terminate = std::chrono::milliseconds(150);
    limits.drain = std::chrono::milliseconds(150);
    return limits;
}

// One child program under supervise() in a folder of its own.
class Supervised {
  public:
    explicit Supervised(std::vector<std::string> argv) {
        argv[0] = child_program(argv[0]);
        spec.argv = std::move(argv);
        spec.environment = Environment::of_this_process().to_strings();
        spec.working_directory = folder.path();
        spec.log_file = folder.path() / "child.log";
        spec.events_file = folder.path() / "events.jsonl";
    }

    const Outcome& run(const ChildLimits& limits = short_limits()) {
        const auto begin = std::chrono::steady_clock::now();
        outcome = supervise(spec, limits, listener);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return outcome;
    }

    template <typename T>
    const T* ended_as() const {
        return std::get_if<T>(&outcome);
    }

    std::vector<Json> events() const {
        std::vector<Json> result;
        const auto text = read_file(spec.events_file);
        if (!text) return result;
        for (const auto line : lines_of(*text)) {
            if (auto event = parse_json(line, "event")) result.push_back(std::move(*event));
        }
        return result;
    }

    TempDir folder;
    ChildSpec spec;
    Listener listener;
    Outcome outcome;
    double seconds = 0;
};

// True where this process has no child at all, not even a zombie.
inline bool no_child_is_left() {
    return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

}  // namespace opgauge::testing
