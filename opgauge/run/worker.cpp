// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/worker.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace opgauge {
namespace {

Outcome outcome_of(int status) {
    if (WIFSIGNALED(status)) return Signaled{WTERMSIG(status), WCOREDUMP(status) != 0};
    return Exited{WEXITSTATUS(status)};
}

}  // namespace

Worker::~Worker() {
    if (process_.pid > 0 && !end_) {
        ::kill(-process_.pid, SIGKILL);
        ::waitpid(process_.pid, nullptr, 0);
    }
    if (process_.pidfd >= 0) ::close(process_.pidfd);
}

Result<void> Worker::start(const WorkerSpec& spec) {
    OPGAUGE_TRY(channel_.open());
    const int log = ::open(spec.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) {
        return fail(
            ErrorKind::environment,
            fmt::format("cannot write {}: {}", spec.log_file.string(), std::strerror(errno)));
    }
    SpawnOptions options;
    options.argv = spec.argv;
    options.argv.push_back(std::to_string(channel_.child_fd()));
    options.environment = spec.environment;
    options.stdout_fd = log;
    options.stderr_fd = log;
    options.kept_fds = {channel_.child_fd()};
    auto spawned = spawn(options);
    ::close(log);
    channel_.close_child_end();
    if (!spawned) return tl::unexpected<Error>(spawned.error());
    process_ = *spawned;
    return {};
}

std::vector<Json> Worker::take_messages() {
    if (closed_at_) return {};
    std::string bytes;
    if (channel_.read_available(bytes) == Channel::ReadState::closed) {
        closed_at_ = std::chrono::steady_clock::now();
        channel_.close_parent_end();
    }
    auto messages = decoder_.feed(bytes);
    if (messages) return std::move(*messages);
    protocol_error(messages.error().message);
    return decoder_.messages_before_error();
}

void Worker::protocol_error(const std::string& what) {
    closed_at_ = std::chrono::steady_clock::now();
    if (!end_) stop(SIGKILL, Stopped{"protocol error: " + what, 0}, *closed_at_);
}

void Worker::tell(const Json& message) {
    if (closed_at_ || end_) return;
    if (const auto sent = channel_.send(message); !sent) protocol_error(sent.error().message);
}

bool Worker::reap() {
    int status = 0;
    const pid_t pid = ::waitpid(process_.pid, &status, WNOHANG);
    if (pid != process_.pid) return false;
    end_ = forced_ ? *forced_ : outcome_of(status);
    return true;
}

void Worker::stop(int signal, const Outcome& why, Time kill_at) {
    if (end_) return;
    if (!forced_) forced_ = why;
    ::kill(-process_.pid, signal);
    kill_at_ = kill_at_ ? std::min(*kill_at_, kill_at) : kill_at;
}

void Worker::check_deadlines(Time now, const WorkerLimits& limits) {
    if (end_) return;
    const bool silent = closed_at_ && limits.after_close.count() > 0;
    if (silent && !forced_ && now - *closed_at_ > limits.after_close) {
        stop(SIGKILL, Stopped{"it closed its channel and went on", 0}, now);
    }
    if (!kill_at_ || now < *kill_at_) return;
    if (!killed_at_) killed_at_ = now;
    stop(SIGKILL, Stopped{"it did not end", 0}, *kill_at_);
    if (now - *killed_at_ > limits.abandon) end_ = forced_;
}

}  // namespace opgauge
