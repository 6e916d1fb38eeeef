// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/run/child_source.h"

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace opgauge {

struct ForkServerSettings {
    std::string backend;
    std::vector<std::string> imports;  // modules, in order; pytest always
    std::vector<std::string> paths;    // first on the interpreter's path while it imports
    Json lend = nullptr;               // what the imports may ask of the device
    std::chrono::milliseconds ready{120'000};
    std::chrono::milliseconds fork{20'000};
    std::function<void(const std::string&)> tell;  // what goes on, one line each; may be empty
};

// Children forked from an interpreter that has done a corpus's imports (docs/fork_server.md). It is
// started with the first child and has that one's interpreter, folder and environment. What it
// cannot or will not fork is started as a process of its own, and why is told. Owned by a lane.
class ForkServer final : public ChildSource {
  public:
    explicit ForkServer(ForkServerSettings settings) : settings_(std::move(settings)) {}
    ~ForkServer() override { end(); }
    ForkServer(const ForkServer&) = delete;
    ForkServer& operator=(const ForkServer&) = delete;

    Result<SpawnedProcess> start(const SpawnOptions& options) override;
    std::vector<pid_t> own_processes() const override;
    // Why there is no server and will be none; empty: there is one, or it is yet to be started.
    const std::string& problem() const { return problem_; }

  private:
    using Deadline = std::chrono::steady_clock::time_point;
    enum class Signals { end_the_wait, stay_pending };

    bool is_running() const { return server_.pid > 0; }
    void open(const SpawnOptions& first);
    Result<void> launch(const SpawnOptions& first);
    Result<void> wait_until_ready(const SpawnOptions& first);
    Result<SpawnedProcess> fork_child(const SpawnOptions& options);
    Result<Json> ask(const Json& message, std::span<const int> fds, Deadline until,
                     Signals signals);
    Result<void> send(std::string_view bytes, std::span<const int> fds, Deadline until,
                      Signals signals);
    Result<std::string> receive_line(Deadline until, Signals signals);
    Result<void> wait_for(short events, Deadline until, Signals signals) const;
    void lose(const std::string& why);
    void end();
    void tell(const std::string& line);

    ForkServerSettings settings_;
    SpawnedProcess server_;
    int socket_ = -1;
    int lost_ = 0;  // servers that were ready and then failed
    std::string problem_;
    std::string last_told_;
};

}  // namespace opgauge
