// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/workers.h"

#include "opgauge/base/process.h"
#include "opgauge/run/channel.h"
#include "opgauge/run/descendants.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

namespace opgauge {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr std::chrono::milliseconds kTick{100};
// After a second signal: a worker kills its child at once and needs no longer.
constexpr std::chrono::milliseconds kAtOnce{1'000};

// One worker: passive, the loop below drives it.
struct Worker {
    ~Worker();
    Result<void> start(const WorkerSpec& spec);
    // What it has said since; nothing after an error of the protocol.
    std::vector<Json> take_messages();
    bool ended();
    Outcome outcome(int status) const;

    Channel channel;
    LineDecoder decoder;
    SpawnedProcess process;
    bool closed = false;
    std::optional<Outcome> end;     // not running any more
    std::optional<Outcome> forced;  // why it is being ended
};

Worker::~Worker() {
    if (process.pid > 0 && !end) {
        ::kill(-process.pid, SIGKILL);
        ::waitpid(process.pid, nullptr, 0);
    }
    if (process.pidfd >= 0) ::close(process.pidfd);
}

Result<void> Worker::start(const WorkerSpec& spec) {
    OPGAUGE_TRY(channel.open());
    const int log = ::open(spec.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) {
        return fail(
            ErrorKind::environment,
            fmt::format("cannot write {}: {}", spec.log_file.string(), std::strerror(errno)));
    }
    SpawnOptions options;
    options.argv = spec.argv;
    options.argv.push_back(std::to_string(channel.child_fd()));
    options.environment = spec.environment;
    options.stdout_fd = log;
    options.stderr_fd = log;
    options.kept_fds = {channel.child_fd()};
    auto spawned = spawn(options);
    ::close(log);
    channel.close_child_end();
    if (!spawned) return tl::unexpected<Error>(spawned.error());
    process = *spawned;
    return {};
}

std::vector<Json> Worker::take_messages() {
    if (closed) return {};
    std::string bytes;
    closed = channel.read_available(bytes) == Channel::ReadState::closed;
    if (closed) channel.close_parent_end();
    auto messages = decoder.feed(bytes);
    if (messages) return std::move(*messages);
    if (!forced) forced = Stopped{"protocol error: " + messages.error().message, 0};
    closed = true;
    if (!end) ::kill(-process.pid, SIGKILL);
    return {};
}

bool Worker::ended() {
    int status = 0;
    const pid_t pid = ::waitpid(process.pid, &status, WNOHANG);
    if (pid != process.pid) return false;
    end = outcome(status);
    return true;
}

Outcome Worker::outcome(int status) const {
    if (forced) return *forced;
    if (WIFSIGNALED(status)) return Signaled{WTERMSIG(status), WCOREDUMP(status) != 0};
    return Exited{WEXITSTATUS(status)};
}

class Workers {
  public:
    Workers(const WorkerLimits& limits, WorkersHandler& handler)
        : limits_(limits), handler_(handler) {}

    WorkersEnd run(std::span<const WorkerSpec> specs);

  private:
    void wait_for_something();
    void take(std::size_t index);
    void check_signals(SteadyTime now);
    void stop_all(int signal, const Outcome& outcome, SteadyTime deadline);
    void check_deadline(SteadyTime now);
    bool any_left() const;

    const WorkerLimits& limits_;
    WorkersHandler& handler_;
    std::vector<std::unique_ptr<Worker>> workers_;
    WorkersEnd result_;
    SteadyTime begin_ = std::chrono::steady_clock::now();
    std::optional<SteadyTime> kill_at_;
    std::optional<SteadyTime> killed_at_;
    int signals_seen_ = SignalGuard::count();
};

WorkersEnd Workers::run(std::span<const WorkerSpec> specs) {
    become_subreaper();
    for (const auto& spec : specs) {
        workers_.push_back(std::make_unique<Worker>());
        if (auto started = workers_.back()->start(spec); !started) {
            workers_.back()->end = NotStarted{started.error().message};
        }
    }
    while (any_left()) {
        wait_for_something();
        for (std::size_t i = 0; i < workers_.size(); ++i) take(i);
        handler_.on_tick();
        const auto now = std::chrono::steady_clock::now();
        check_signals(now);
        check_deadline(now);
    }
    end_descendants();
    for (const auto& worker : workers_) result_.outcomes.push_back(*worker->end);
    return std::move(result_);
}

bool Workers::any_left() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return !worker->end; });
}

void Workers::wait_for_something() {
    std::vector<pollfd> fds;
    for (const auto& worker : workers_) {
        if (worker->end) continue;
        fds.push_back({worker->process.pidfd, POLLIN, 0});
        if (!worker->closed) fds.push_back({worker->channel.parent_fd(), POLLIN, 0});
    }
    const timespec timeout{0, std::chrono::nanoseconds(kTick).count()};
    ::ppoll(fds.data(), fds.size(), &timeout, &SignalGuard::wait_mask());
}

void Workers::take(std::size_t index) {
    Worker& worker = *workers_[index];
    if (worker.end) return;
    // First whether it has ended: what it said before is still in the socket then.
    const bool ended = worker.ended();
    for (const auto& message : worker.take_messages()) handler_.on_message(index, message);
    if (ended && worker.forced) worker.end = *worker.forced;
}

void Workers::check_signals(SteadyTime now) {
    const int signals = SignalGuard::count();
    if (signals <= signals_seen_) return;
    const int number = SignalGuard::received();
    const Stopped stopped{fmt::format("interrupted by SIG{}", ::sigabbrev_np(number)), number};
    if (!result_.interrupted) result_.interrupted = stopped;
    // A worker counts for itself: to it as well, the second one means at once.
    stop_all(SIGINT, stopped, now + (signals > 1 ? kAtOnce : limits_.interrupt));
    signals_seen_ = signals;
}

void Workers::stop_all(int signal, const Outcome& outcome, SteadyTime deadline) {
    for (const auto& worker : workers_) {
        if (worker->end) continue;
        if (!worker->forced) worker->forced = outcome;
        ::kill(-worker->process.pid, signal);
    }
    kill_at_ = kill_at_ ? std::min(*kill_at_, deadline) : deadline;
}

void Workers::check_deadline(SteadyTime now) {
    if (limits_.total.count() > 0 && !kill_at_ && now - begin_ > limits_.total) {
        const double seconds = std::chrono::duration<double>(limits_.total).count();
        stop_all(SIGINT, TimedOut{fmt::format("timeout {} s", seconds)}, now + limits_.interrupt);
    }
    if (!kill_at_ || now < *kill_at_) return;
    if (!killed_at_) killed_at_ = now;
    stop_all(SIGKILL, Stopped{"it did not end", 0}, *kill_at_);
    if (now - *killed_at_ < limits_.abandon) return;
    for (const auto& worker : workers_) {
        if (!worker->end) worker->end = worker->forced;
    }
}

}  // namespace

WorkersEnd supervise_workers(std::span<const WorkerSpec> specs, const WorkerLimits& limits,
                             WorkersHandler& handler) {
    Workers workers(limits, handler);
    return workers.run(specs);
}

}  // namespace opgauge
