// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/workers.h"

#include "opgauge/run/descendants.h"
#include "opgauge/run/signals.h"
#include "opgauge/run/worker.h"

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kTick{100};
// After a second signal: a worker kills its child at once and needs no longer.
constexpr std::chrono::milliseconds kAtOnce{1'000};

class Workers {
  public:
    Workers(std::span<const WorkerSpec> specs, const WorkerLimits& limits, WorkersHandler& handler)
        : specs_(specs), limits_(limits), handler_(handler) {}

    WorkersEnd run();

  private:
    // What woke the loop for one worker.
    struct Woken {
        bool ended = false;
        bool channel = false;
    };

    void start(std::size_t index);
    std::vector<Woken> wait_for_something();
    void take(std::size_t index, const Woken& woken);
    void serve(std::size_t index, Worker::Time now);
    void settle(std::size_t index);
    void check_signals(Worker::Time now);
    void stop_all(int signal, const Outcome& outcome, Worker::Time deadline);
    void check_limit(Worker::Time now);
    bool any_left() const;

    std::span<const WorkerSpec> specs_;
    const WorkerLimits& limits_;
    WorkersHandler& handler_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<char> settled_;  // its end was told and it is not started again
    WorkersEnd result_;
    Worker::Time begin_ = std::chrono::steady_clock::now();
    bool limit_passed_ = false;
    int signals_seen_ = SignalGuard::count();
};

WorkersEnd Workers::run() {
    become_subreaper();
    workers_.resize(specs_.size());
    settled_.resize(specs_.size(), 0);
    for (std::size_t i = 0; i < specs_.size(); ++i) start(i);
    while (any_left()) {
        const auto woken = wait_for_something();
        for (std::size_t i = 0; i < workers_.size(); ++i) take(i, woken[i]);
        handler_.on_tick();
        const auto now = std::chrono::steady_clock::now();
        check_signals(now);
        check_limit(now);
        for (std::size_t i = 0; i < workers_.size(); ++i) serve(i, now);
        for (std::size_t i = 0; i < workers_.size(); ++i) settle(i);
    }
    end_descendants();
    for (const auto& worker : workers_) result_.outcomes.push_back(*worker->end());
    return std::move(result_);
}

void Workers::start(std::size_t index) {
    workers_[index] = std::make_unique<Worker>();
    if (auto started = workers_[index]->start(specs_[index]); !started) {
        workers_[index]->set_end(NotStarted{started.error().message});
    }
}

bool Workers::any_left() const {
    return std::any_of(settled_.begin(), settled_.end(), [](char settled) { return settled == 0; });
}

std::vector<Workers::Woken> Workers::wait_for_something() {
    std::vector<pollfd> fds;
    for (const auto& worker : workers_) {
        const bool runs = !worker->end();
        const int events = POLLIN | (worker->wants_to_write() ? POLLOUT : 0);
        // A negative number is passed over.
        fds.push_back({runs ? worker->pidfd() : -1, POLLIN, 0});
        fds.push_back({runs ? worker->channel_fd() : -1, static_cast<short>(events), 0});
    }
    const timespec timeout{0, std::chrono::nanoseconds(kTick).count()};
    const int ready = ::ppoll(fds.data(), fds.size(), &timeout, &SignalGuard::wait_mask());
    std::vector<Woken> woken(workers_.size());
    for (std::size_t i = 0; ready > 0 && i < workers_.size(); ++i) {
        woken[i] = {fds[2 * i].revents != 0, fds[2 * i + 1].revents != 0};
    }
    return woken;
}

void Workers::take(std::size_t index, const Woken& woken) {
    Worker& worker = *workers_[index];
    if (worker.end() || (!woken.ended && !woken.channel)) return;
    worker.flush();
    // First whether it has ended: what it said before is still in the socket then.
    if (woken.ended) worker.reap();
    for (const auto& message : worker.take_messages()) handler_.on_message(index, message);
}

void Workers::serve(std::size_t index, Worker::Time now) {
    Worker& worker = *workers_[index];
    if (worker.end()) return;
    while (const auto message = handler_.to_send(index)) worker.tell(*message);
    if (!worker.stopping()) {
        if (const auto why = handler_.wants_stop(index)) {
            worker.stop(SIGINT, Stopped{*why, 0}, now + limits_.interrupt);
        }
    }
    worker.check_deadlines(now, limits_);
}

// What an ended worker leaves is gone before another takes its place.
void Workers::settle(std::size_t index) {
    if (settled_[index] != 0 || !workers_[index]->end()) return;
    std::vector<pid_t> others;
    for (const auto& worker : workers_) {
        if (!worker->end()) others.push_back(worker->pid());
    }
    end_descendants(others);
    const bool again = handler_.on_end(index, *workers_[index]->end());
    if (again && !result_.interrupted) return start(index);
    settled_[index] = 1;
}

void Workers::check_signals(Worker::Time now) {
    const int signals = SignalGuard::count();
    if (signals <= signals_seen_) return;
    const int number = SignalGuard::received();
    const Stopped stopped{fmt::format("interrupted by SIG{}", ::sigabbrev_np(number)), number};
    // A worker counts for itself: to it as well, the second one means at once.
    stop_all(SIGINT, stopped, now + (signals > 1 ? kAtOnce : limits_.interrupt));
    if (!result_.interrupted) {
        result_.interrupted = stopped;
        handler_.on_interrupt(stopped);
    }
    signals_seen_ = signals;
}

void Workers::stop_all(int signal, const Outcome& outcome, Worker::Time deadline) {
    for (const auto& worker : workers_) worker->stop(signal, outcome, deadline);
}

void Workers::check_limit(Worker::Time now) {
    if (limits_.total.count() == 0 || limit_passed_ || result_.interrupted) return;
    if (now - begin_ <= limits_.total) return;
    limit_passed_ = true;
    const double seconds = std::chrono::duration<double>(limits_.total).count();
    stop_all(SIGINT, TimedOut{fmt::format("timeout {} s", seconds)}, now + limits_.interrupt);
}

}  // namespace

WorkersEnd supervise_workers(std::span<const WorkerSpec> specs, const WorkerLimits& limits,
                             WorkersHandler& handler) {
    Workers workers(specs, limits, handler);
    return workers.run();
}

}  // namespace opgauge
