// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/process.h"
#include "opgauge/base/result.h"
#include "opgauge/run/channel.h"
#include "opgauge/run/outcome.h"
#include "opgauge/run/workers.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// One worker of supervise_workers: passive, its loop drives it. Killed with the object.
class Worker {
  public:
    using Time = std::chrono::steady_clock::time_point;

    Worker() = default;
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    Result<void> start(const WorkerSpec& spec);
    pid_t pid() const { return process_.pid; }
    int pidfd() const { return process_.pidfd; }
    // -1 once nothing more is read.
    int channel_fd() const { return closed_at_ ? -1 : channel_.parent_fd(); }
    bool wants_to_write() const { return !closed_at_ && channel_.wants_to_write(); }

    // What it has said since; nothing after an error of the protocol, that ends it.
    std::vector<Json> take_messages();
    void tell(const Json& message);
    void flush() { channel_.flush(); }
    // Reaps it where it has ended.
    bool reap();
    // Signals its group and, unless it was asked to end before, remembers why.
    void stop(int signal, const Outcome& why, Time kill_at);
    // SIGKILL where it is late; gives up on one that no signal ends.
    void check_deadlines(Time now, const WorkerLimits& limits);

    // How it ended, once it has.
    const std::optional<Outcome>& end() const { return end_; }
    void set_end(Outcome outcome) { end_ = std::move(outcome); }
    bool stopping() const { return forced_.has_value(); }

  private:
    void protocol_error(const std::string& what);

    Channel channel_;
    LineDecoder decoder_;
    SpawnedProcess process_;
    std::optional<Time> closed_at_;
    std::optional<Outcome> end_;     // not running any more
    std::optional<Outcome> forced_;  // why it is being ended
    std::optional<Time> kill_at_;
    std::optional<Time> killed_at_;
};

}  // namespace opgauge
