// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/supervisor.h"

#include "opgauge/base/file.h"
#include "opgauge/base/process.h"
#include "opgauge/base/text.h"
#include "opgauge/run/channel.h"
#include "opgauge/run/descendants.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace opgauge {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr std::chrono::milliseconds kTick{200};

// One supervised child from start to end. The loop is in run(); each method is one duty of it.
class Supervision {
  public:
    Supervision(const ChildSpec& spec, const ChildLimits& limits, ChildHandler& handler,
                ChildSource& source)
        : spec_(spec), limits_(limits), handler_(handler), source_(source) {}
    ~Supervision();
    Supervision(const Supervision&) = delete;
    Supervision& operator=(const Supervision&) = delete;

    Outcome run();

  private:
    enum class StopStage { none, dump, interrupt, terminate, kill };

    Result<void> start();
    std::vector<std::string> environment_with_channel() const;
    void wait_for_something();
    void take_channel();
    void take_message(const Json& message);
    void answer(unsigned long long question, Json answer);
    void give_late_answer(SteadyTime now);
    void log_event(const char* from, const Json& message);
    void check_reasons_to_stop();
    void check_limits(SteadyTime now);
    void begin_stop(Outcome outcome);
    void begin_stall_stop();
    void stop_from(StopStage stage, Outcome outcome);
    void advance_stop(SteadyTime now);
    void escalate(StopStage stage, int signal, std::chrono::milliseconds until_next,
                  SteadyTime now);
    Outcome reap();
    void drain_channel();

    const ChildSpec& spec_;
    const ChildLimits& limits_;
    ChildHandler& handler_;
    ChildSource& source_;
    Channel channel_;
    LineDecoder decoder_;
    SpawnedProcess process_;
    int log_fd_ = -1;
    std::optional<LineAppender> events_;
    SteadyTime begin_ = std::chrono::steady_clock::now();
    SteadyTime last_message_ = begin_;
    std::optional<unsigned long long> owed_;  // the question whose answer comes later
    SteadyTime owed_since_;
    SteadyTime::duration waited_{};  // for such answers
    std::optional<SteadyTime> channel_closed_;
    bool child_ended_ = false;
    bool said_bye_ = false;
    bool reaped_ = false;
    StopStage stage_ = StopStage::none;
    SteadyTime next_stage_;
    std::optional<SteadyTime> first_kill_;
    bool abandoned_ = false;
    std::optional<Outcome> forced_;  // why it is being stopped
    int signals_seen_ = SignalGuard::count();
};

Supervision::~Supervision() {
    // Only where the handler has thrown: not even a defect of ours leaves a child on a device.
    if (process_.pid > 0 && !reaped_) reap();
    if (log_fd_ >= 0) ::close(log_fd_);
    if (process_.pidfd >= 0) ::close(process_.pidfd);
}

Result<void> Supervision::start() {
    become_subreaper();
    OPGAUGE_TRY(channel_.open());
    // The child writes straight into its log: a flood costs disk, never our memory or our time.
    log_fd_ = ::open(spec_.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd_ < 0) {
        return fail(
            ErrorKind::environment,
            fmt::format("cannot write {}: {}", spec_.log_file.string(), std::strerror(errno)));
    }
    if (!spec_.events_file.empty()) {
        OPGAUGE_TRY_ASSIGN(events_, LineAppender::open(spec_.events_file));
    }
    SpawnOptions options;
    options.argv = spec_.argv;
    options.environment = environment_with_channel();
    options.working_directory = spec_.working_directory;
    options.stdout_fd = log_fd_;
    options.stderr_fd = log_fd_;
    options.kept_fds = {channel_.child_fd()};
    OPGAUGE_TRY_ASSIGN(process_, source_.start(options));
    channel_.close_child_end();
    // A source may take its time for the first one.
    begin_ = last_message_ = std::chrono::steady_clock::now();
    return {};
}

// An opgauge that is itself the child of another has the variable already, with a stale number.
std::vector<std::string> Supervision::environment_with_channel() const {
    const std::string name = std::string(kChannelVariable) + "=";
    std::vector<std::string> environment = spec_.environment;
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name); });
    environment.push_back(name + std::to_string(channel_.child_fd()));
    return environment;
}

Outcome Supervision::run() {
    if (auto started = start(); !started) return NotStarted{started.error().message};
    while (!child_ended_ && !abandoned_) {
        wait_for_something();
        take_channel();
        handler_.on_tick();
        if (child_ended_) break;
        const auto now = std::chrono::steady_clock::now();
        check_reasons_to_stop();
        give_late_answer(now);
        check_limits(now);
        advance_stop(now);
    }
    drain_channel();
    return reap();
}

void Supervision::wait_for_something() {
    std::array<pollfd, 2> fds = {{{process_.pidfd, POLLIN, 0}, {channel_.parent_fd(), POLLIN, 0}}};
    if (channel_.wants_to_write()) fds[1].events |= POLLOUT;
    auto wait = std::min(kTick, handler_.tick_interval());
    if (stage_ != StopStage::none) wait = std::chrono::milliseconds(20);
    const timespec timeout{0, std::chrono::nanoseconds(wait).count()};
    ::ppoll(fds.data(), fds.size(), &timeout, &SignalGuard::wait_mask());
    if ((fds[0].revents & POLLIN) != 0) child_ended_ = true;
}

void Supervision::take_channel() {
    channel_.flush();
    if (channel_closed_) return;
    std::string bytes;
    const auto state = channel_.read_available(bytes);
    auto messages = decoder_.feed(bytes);
    for (const auto& message : messages ? *messages : decoder_.messages_before_error()) {
        take_message(message);
    }
    if (!messages) begin_stop(Stopped{"protocol error: " + messages.error().message, 0});
    if (state == Channel::ReadState::closed) {
        channel_closed_ = std::chrono::steady_clock::now();
        channel_.close_parent_end();
        if (!decoder_.rest().empty()) {
            log_event("child", {{"unfinished", printable(decoder_.rest(), 200)}});
        }
    }
}

void Supervision::take_message(const Json& message) {
    last_message_ = std::chrono::steady_clock::now();
    log_event("child", message);
    if (get_string(message, "type") == "bye") said_bye_ = true;
    const auto seq = message.at("seq").get<unsigned long long>();
    if (auto now = handler_.on_message(message)) return answer(seq, std::move(*now));
    if (!handler_.answers_later() || owed_) return;
    owed_ = seq;
    owed_since_ = last_message_;
}

void Supervision::answer(unsigned long long question, Json answer) {
    answer["to"] = question;
    log_event("parent", answer);
    if (auto sent = channel_.send(answer); !sent) begin_stop(Stopped{sent.error().message, 0});
}

void Supervision::give_late_answer(SteadyTime now) {
    // A child that is being stopped, or that went on without its answer, gets none.
    if (forced_ || !handler_.answers_later()) owed_.reset();
    if (!owed_) return;
    waited_ += now - owed_since_;
    owed_since_ = last_message_ = now;
    if (auto late = handler_.late_answer()) answer(*std::exchange(owed_, {}), std::move(*late));
}

void Supervision::log_event(const char* from, const Json& message) {
    if (!events_) return;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    // Losing the protocol's transcript is no reason to lose the measurement.
    static_cast<void>(
        events_->append(to_line({{"t_s", since.count()}, {"from", from}, {"message", message}})));
}

void Supervision::check_reasons_to_stop() {
    const int signals = SignalGuard::count();
    if (signals > signals_seen_) {
        const int number = SignalGuard::received();
        // The second one means: at once.
        stop_from(signals > 1 ? StopStage::kill : StopStage::interrupt,
                  Stopped{fmt::format("interrupted by SIG{}", ::sigabbrev_np(number)), number});
        signals_seen_ = signals;
    }
    if (auto reason = handler_.wants_stop()) begin_stop(Stopped{*reason, 0});
}

void Supervision::check_limits(SteadyTime now) {
    if (limits_.total.count() > 0 && now - begin_ - waited_ > limits_.total) {
        begin_stop(TimedOut{
            fmt::format("timeout {} s", std::chrono::duration<double>(limits_.total).count())});
    }
    if (limits_.stall.count() > 0 && now - last_message_ > limits_.stall) {
        begin_stall_stop();
    }
    // Without its channel a child can tell nothing more; after `bye` it gets the time to end well.
    if (channel_closed_ && !said_bye_ && now - *channel_closed_ > limits_.drain) {
        begin_stop(Stopped{"it closed its channel and went on running", 0});
    }
}

// The first reason is the one that is reported.
void Supervision::begin_stop(Outcome outcome) {
    if (!forced_) stop_from(StopStage::interrupt, std::move(outcome));
}

// It says where it hangs before anything else disturbs it.
void Supervision::begin_stall_stop() {
    if (forced_) return;
    const bool done = spec_.dump_stacks && spec_.dump_stacks(process_.pid);
    const bool ask = !done && spec_.dump_signal != 0;
    if (ask) ::kill(process_.pid, spec_.dump_signal);
    stop_from(
        ask ? StopStage::dump : StopStage::interrupt,
        TimedOut{fmt::format("stall {} s", std::chrono::duration<double>(limits_.stall).count()),
                 TimedOut::Limit::stall});
}

void Supervision::stop_from(StopStage stage, Outcome outcome) {
    const bool first = !forced_;
    if (first) {
        log_event("parent", {{"type", "stopping"}, {"reason", to_text(outcome)}});
        handler_.on_stop(outcome);
        forced_ = std::move(outcome);
    }
    const auto now = std::chrono::steady_clock::now();
    if (stage == StopStage::kill) {
        escalate(StopStage::kill, SIGKILL, kTick, now);
    } else if (first) {
        const bool dump = stage == StopStage::dump;
        escalate(stage, dump ? 0 : SIGINT, dump ? limits_.dump : limits_.interrupt, now);
    }
}

void Supervision::advance_stop(SteadyTime now) {
    if (first_kill_ && now - *first_kill_ > limits_.abandon) abandoned_ = true;
    if (stage_ == StopStage::none || now < next_stage_) return;
    if (stage_ == StopStage::dump) {
        escalate(StopStage::interrupt, SIGINT, limits_.interrupt, now);
    } else if (stage_ == StopStage::interrupt) {
        escalate(StopStage::terminate, SIGTERM, limits_.terminate, now);
    } else {
        // Again and again: new members of the group may have come since.
        escalate(StopStage::kill, SIGKILL, kTick, now);
    }
}

void Supervision::escalate(StopStage stage, int signal, std::chrono::milliseconds until_next,
                           SteadyTime now) {
    ::kill(-process_.pid, signal);
    if (stage == StopStage::kill && !first_kill_) first_kill_ = now;
    stage_ = stage;
    next_stage_ = now + until_next;
}

// The child has ended; messages that it sent before are still in the socket. A grandchild may hold
// the other end open for ever, so end of file is not awaited beyond the deadline.
void Supervision::drain_channel() {
    const auto until = std::chrono::steady_clock::now() + limits_.drain;
    while (!channel_closed_ && std::chrono::steady_clock::now() < until) {
        pollfd fd = {channel_.parent_fd(), POLLIN, 0};
        if (::poll(&fd, 1, 10) > 0) take_channel();
    }
}

Outcome Supervision::reap() {
    // The zombie still holds its group's number, so that nobody else can have it.
    ::kill(-process_.pid, SIGKILL);
    int status = 0;
    while (::waitpid(process_.pid, &status, abandoned_ ? WNOHANG : 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    end_descendants(source_.own_processes());
    auto* const late = forced_ ? std::get_if<TimedOut>(&*forced_) : nullptr;
    if (late != nullptr) late->gone = !abandoned_;
    if (forced_) return *forced_;
    if (WIFSIGNALED(status)) return Signaled{WTERMSIG(status), WCOREDUMP(status) != 0};
    return Exited{WEXITSTATUS(status)};
}

}  // namespace

Outcome supervise(const ChildSpec& spec, const ChildLimits& limits, ChildHandler& handler,
                  ChildSource& source) {
    Supervision supervision(spec, limits, handler, source);
    return supervision.run();
}

Outcome supervise(const ChildSpec& spec, const ChildLimits& limits, ChildHandler& handler) {
    PlainChildren plain;
    return supervise(spec, limits, handler, plain);
}

}  // namespace opgauge
