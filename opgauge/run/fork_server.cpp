// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/fork_server.h"

#include "opgauge/base/text.h"
#include "opgauge/run/channel.h"
#include "opgauge/run/descendants.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace opgauge {
namespace {

constexpr int kProtocol = 1;
constexpr int kMostLost = 3;
constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds kEndPatience{2'000};
constexpr const char* kModule = "opgauge_bridge.fork_server";
constexpr const char* kSocketVariable = "OPGAUGE_FORK_SERVER_FD=";

tl::unexpected<Error> failed(std::string what) {
    return fail(ErrorKind::failed, std::move(what));
}

// Of the server: each child has a channel of its own.
std::vector<std::string> without_channel(std::vector<std::string> environment) {
    const std::string begin = std::string(kChannelVariable) + "=";
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(begin); });
    return environment;
}

// A channel and a log are all that can be handed over.
bool can_be_handed_over(const SpawnOptions& options) {
    return options.kept_fds.size() == 1 && options.stdout_fd >= 0 &&
           options.stdout_fd == options.stderr_fd;
}

ssize_t send_some(int socket, std::string_view bytes, std::span<const int> fds) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
    if (!fds.empty()) {
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* files = CMSG_FIRSTHDR(&header);
        files->cmsg_level = SOL_SOCKET;
        files->cmsg_type = SCM_RIGHTS;
        files->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(files), fds.data(), fds.size_bytes());
    }
    return ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Result<SpawnedProcess> ForkServer::start(const SpawnOptions& options) {
    if (!can_be_handed_over(options)) return spawn(options);
    if (problem_.empty() && !is_running()) open(options);
    if (is_running()) {
        auto child = fork_child(options);
        if (child) return child;
        tell("the fork server forks no child: " + child.error().message);
    }
    return spawn(options);
}

std::vector<pid_t> ForkServer::own_processes() const {
    return is_running() ? std::vector<pid_t>{server_.pid} : std::vector<pid_t>{};
}

void ForkServer::open(const SpawnOptions& first) {
    tell("starting the fork server");
    auto opened = launch(first);
    if (opened) opened = wait_until_ready(first);
    if (opened) return;
    end();
    problem_ = printable(opened.error().message, 300);
    tell("no fork server: " + problem_);
}

Result<void> ForkServer::launch(const SpawnOptions& first) {
    // Its children are to become ours.
    become_subreaper();
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return failed(fmt::format("cannot make its socket: {}", std::strerror(errno)));
    }
    socket_ = fds[0];
    SpawnOptions options;
    options.argv = {first.argv.front(), "-m", kModule};
    options.environment = without_channel(first.environment);
    options.environment.push_back(kSocketVariable + std::to_string(fds[1]));
    options.working_directory = first.working_directory;
    options.stdout_fd = STDERR_FILENO;
    options.stderr_fd = STDERR_FILENO;
    options.kept_fds = {fds[1]};
    auto started = spawn(options);
    ::close(fds[1]);
    if (!started) return tl::unexpected<Error>(started.error());
    server_ = *started;
    return {};
}

Result<void> ForkServer::wait_until_ready(const SpawnOptions& first) {
    const Json start = {{"type", "start"},
                        {"protocol", kProtocol},
                        {"parent", ::getpid()},
                        {"interpreter", first.argv.front()},
                        {"working_directory", first.working_directory},
                        {"environment", without_channel(first.environment)},
                        {"backend", settings_.backend},
                        {"imports", settings_.imports},
                        {"paths", settings_.paths},
                        {"lend", settings_.lend}};
    const auto until = std::chrono::steady_clock::now() + settings_.ready;
    OPGAUGE_TRY_ASSIGN(const Json ready, ask(start, {}, until, Signals::end_the_wait));
    if (get_string(ready, "type") != "ready" || get_optional<int>(ready, "protocol") != kProtocol) {
        return failed("it does not speak this version's protocol");
    }
    const std::string problem = get_string(ready, "problem");
    if (!problem.empty()) return failed(problem);
    return {};
}

Result<SpawnedProcess> ForkServer::fork_child(const SpawnOptions& options) {
    const Json request = {{"type", "fork"},
                          {"argv", options.argv},
                          {"working_directory", options.working_directory},
                          {"environment", options.environment}};
    const std::array<int, 2> fds = {options.kept_fds.front(), options.stdout_fd};
    const auto until = std::chrono::steady_clock::now() + settings_.fork;
    auto answer = ask(request, fds, until, Signals::stay_pending);
    if (!answer) {
        lose(answer.error().message);
        return tl::unexpected<Error>(answer.error());
    }
    if (get_string(*answer, "type") == "refused") {
        return failed(printable(get_string(*answer, "reason"), 300));
    }
    const pid_t pid = get_optional<pid_t>(*answer, "pid").value_or(0);
    const int pidfd = pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
    if (pidfd < 0) {
        lose("it told no process");
        return failed("it told no process");
    }
    return SpawnedProcess{pid, pidfd};
}

Result<Json> ForkServer::ask(const Json& message, std::span<const int> fds, Deadline until,
                             Signals signals) {
    OPGAUGE_TRY(send(to_line(message) + "\n", fds, until, signals));
    OPGAUGE_TRY_ASSIGN(const std::string line, receive_line(until, signals));
    return parse_json(line, "the fork server's answer");
}

Result<void> ForkServer::send(std::string_view bytes, std::span<const int> fds, Deadline until,
                              Signals signals) {
    while (!bytes.empty()) {
        const ssize_t sent = send_some(socket_, bytes, fds);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
            fds = {};  // they went with the first bytes
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            OPGAUGE_TRY(wait_for(POLLOUT, until, signals));
        } else if (errno != EINTR) {
            return failed("it has ended");
        }
    }
    return {};
}

Result<std::string> ForkServer::receive_line(Deadline until, Signals signals) {
    std::string line;
    std::array<char, 4096> buffer{};
    while (!line.ends_with('\n')) {
        const ssize_t read = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (read > 0) {
            line.append(buffer.data(), static_cast<std::size_t>(read));
            if (line.size() > kLongestAnswer) return failed("its answer has no end");
        } else if (read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            OPGAUGE_TRY(wait_for(POLLIN, until, signals));
        } else if (read == 0 || errno != EINTR) {
            return failed("it has ended");
        }
    }
    return line;
}

Result<void> ForkServer::wait_for(short events, Deadline until, Signals signals) const {
    using std::chrono::nanoseconds;
    const int seen = SignalGuard::count();
    const bool ends = signals == Signals::end_the_wait;
    while (true) {
        const auto left =
            std::chrono::duration_cast<nanoseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) return failed("it does not answer in time");
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
        const timespec timeout{seconds.count(), (left - seconds).count()};
        pollfd fd = {socket_, events, 0};
        if (::ppoll(&fd, 1, &timeout, ends ? &SignalGuard::wait_mask() : nullptr) > 0) return {};
        if (ends && SignalGuard::count() > seen) return failed("interrupted");
    }
}

// It may have forked all the same: a child that nobody knows of must not use the device.
void ForkServer::lose(const std::string& why) {
    end();
    end_descendants();
    if (++lost_ == kMostLost)
        problem_ = fmt::format("{} of them were lost, the last: {}", lost_, why);
}

void ForkServer::end() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    if (!is_running()) return;
    // By its pidfd: somebody else may have reaped it, and its number may be another's.
    ::syscall(SYS_pidfd_send_signal, server_.pidfd, SIGKILL, nullptr, 0);
    pollfd fd = {server_.pidfd, POLLIN, 0};
    while (::poll(&fd, 1, static_cast<int>(kEndPatience.count())) < 0 && errno == EINTR) {
    }
    ::waitpid(server_.pid, nullptr, WNOHANG);
    ::close(server_.pidfd);
    server_ = {};
}

void ForkServer::tell(const std::string& line) {
    if (settings_.tell && line != last_told_) settings_.tell(line);
    last_told_ = line;
}

}  // namespace opgauge
