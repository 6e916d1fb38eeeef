// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/run/outcome.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace opgauge {

// A process that works beside others and supervises a child of its own: another opgauge. It tells
// and asks, one JSON line a message with `type` and `seq` (channel.h).
struct WorkerSpec {
    std::vector<std::string> argv;  // the number of its end of the channel is added at the end
    std::vector<std::string> environment;
    std::filesystem::path log_file;  // its stdout and stderr
};

struct WorkerLimits {
    std::chrono::milliseconds total{0};  // 0: none. Above the worker's own limit
    // SIGINT -> SIGKILL: longer than a worker takes to end its own child.
    std::chrono::milliseconds interrupt{12'000};
    std::chrono::milliseconds abandon{30'000};  // SIGKILL -> opgauge goes on without it
    // A worker that closed its channel has so long to end; 0: as long as it likes.
    std::chrono::milliseconds after_close{0};
};

// Called in the one thread of supervise_workers.
class WorkersHandler {
  public:
    virtual ~WorkersHandler() = default;
    virtual void on_message(std::size_t worker, const Json& message) = 0;
    virtual void on_tick() {}
    // What the worker is to be told now; asked after its messages and at each tick.
    virtual std::optional<Json> to_send(std::size_t /*worker*/) { return std::nullopt; }
    // Not empty: end this worker, and say this in its outcome.
    virtual std::optional<std::string> wants_stop(std::size_t /*worker*/) { return std::nullopt; }
    // It has ended and is gone. True: start it again; never asked for after an interrupt.
    virtual bool on_end(std::size_t /*worker*/, const Outcome& /*outcome*/) { return false; }
    // The first signal came; every worker has been told.
    virtual void on_interrupt(const Stopped& /*by*/) {}
};

struct WorkersEnd {
    std::vector<Outcome> outcomes;       // one a worker, its last
    std::optional<Stopped> interrupted;  // a signal ended those that still worked
};

// Runs all workers at once, each in its own process group, until each has ended. They and what
// they started die with this process. First SIGINT or SIGTERM: SIGINT to each, that ends its own
// child gracefully; second: at once. Called in the main thread; at its end every other child of
// this thread is killed too, and what a worker leaves behind is killed before it is started again.
WorkersEnd supervise_workers(std::span<const WorkerSpec> specs, const WorkerLimits& limits,
                             WorkersHandler& handler);

}  // namespace opgauge
