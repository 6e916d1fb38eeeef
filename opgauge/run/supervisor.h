// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/run/child_source.h"
#include "opgauge/run/outcome.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

struct ChildSpec {
    std::vector<std::string> argv;
    std::vector<std::string>
        environment;  // complete, "NAME=value"; the channel's variable is added
    std::string working_directory;
    std::filesystem::path log_file;     // the child's stdout and stderr, as they come
    std::filesystem::path events_file;  // every channel line with direction and time; empty: none
    // Before a stalled child is stopped: writes its stacks somewhere; true: that worked.
    std::function<bool(long long pid)> dump_stacks;
    int dump_signal = 0;  // else this signal makes it write them into its log; 0: it cannot
};

struct ChildLimits {
    std::chrono::milliseconds total{0};          // 0: none
    std::chrono::milliseconds stall{0};          // without a message on the channel; 0: none
    std::chrono::milliseconds dump{500};         // dump_signal -> SIGINT
    std::chrono::milliseconds interrupt{2'000};  // SIGINT -> SIGTERM
    std::chrono::milliseconds terminate{3'000};  // SIGTERM -> SIGKILL
    std::chrono::milliseconds drain{500};        // reading pipes after the child's end
    // SIGKILL -> opgauge goes on without it: a hung driver can hold a process that no signal ends.
    std::chrono::milliseconds abandon{30'000};
};

// Called by the supervisor, in its one thread, in the order in which things happen.
class ChildHandler {
  public:
    virtual ~ChildHandler() = default;
    // One message of the child. The answer to a question, or nullopt for none.
    virtual std::optional<Json> on_message(const Json& message) = 0;
    // True: the answer that on_message did not give comes later. late_answer() is then asked after
    // each wake-up until it gives one. The child has to wait, so the time counts for no limit.
    virtual bool answers_later() const { return false; }
    virtual std::optional<Json> late_answer() { return std::nullopt; }
    // After each wake-up, and at least once in each tick_interval().
    virtual void on_tick() {}
    virtual std::chrono::milliseconds tick_interval() const { return kUsualTick; }
    static constexpr std::chrono::milliseconds kUsualTick{200};
    // Not empty: end the child and say this in the outcome.
    virtual std::optional<std::string> wants_stop() { return std::nullopt; }
    // The child is about to be stopped for this reason; what it says from now on is its last words.
    virtual void on_stop(const Outcome& /*reason*/) {}
};

// Runs one child to its end in its own process group and talks with it. Returns when the child
// itself has ended (pidfd, not end of file) and its group is gone. First SIGINT or SIGTERM to
// opgauge: the stop sequence with its deadlines; second: SIGKILL at once. Called in the main
// thread, for one child at a time: at its end every other child of this thread is killed too, but
// for those of `source` itself.
Outcome supervise(const ChildSpec& spec, const ChildLimits& limits, ChildHandler& handler,
                  ChildSource& source);
Outcome supervise(const ChildSpec& spec, const ChildLimits& limits, ChildHandler& handler);

}  // namespace opgauge
