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

// A process that works beside others and supervises a child of its own: another opgauge. It only
// tells, one JSON line a message with `type` and `seq` (channel.h).
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
};

// Called in the one thread of supervise_workers.
class WorkersHandler {
  public:
    virtual ~WorkersHandler() = default;
    virtual void on_message(std::size_t worker, const Json& message) = 0;
    virtual void on_tick() {}
};

struct WorkersEnd {
    std::vector<Outcome> outcomes;       // one a worker
    std::optional<Stopped> interrupted;  // a signal ended those that still worked
};

// Runs all workers at once, each in its own process group, until each has ended. They and what
// they started die with this process. First SIGINT or SIGTERM: SIGINT to each, that ends its own
// child gracefully; second: at once. Called in the main thread; at its end every other child of
// this thread is killed too.
WorkersEnd supervise_workers(std::span<const WorkerSpec> specs, const WorkerLimits& limits,
                             WorkersHandler& handler);

}  // namespace opgauge
