// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/tool.h"

#include "opgauge/base/clock.h"
#include "opgauge/base/process.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace opgauge {
namespace {

constexpr std::size_t kMostOutput = std::size_t{16} << 20U;
// After the tool's end its pipes may be held open by a grandchild: read what is there, no longer.
constexpr std::chrono::milliseconds kDrain{200};

struct Pipe {
    int read_end = -1;
    int write_end = -1;

    bool open() {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) != 0) return false;
        read_end = fds[0];
        write_end = fds[1];
        ::fcntl(read_end, F_SETFL, O_NONBLOCK);
        return true;
    }
    void close_end(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
    ~Pipe() {
        close_end(read_end);
        close_end(write_end);
    }
};

// Reads what is there; closes the end at end of file. Bounded, so that a tool that writes without
// end cannot keep its reader from looking at the clock.
void read_available(Pipe& pipe, std::string& text) {
    std::array<char, 65536> buffer{};
    for (int round = 0; round < 16 && pipe.read_end >= 0; ++round) {
        const ssize_t n = ::read(pipe.read_end, buffer.data(), buffer.size());
        if (n > 0) {
            const std::size_t room = kMostOutput - std::min(kMostOutput, text.size());
            text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            pipe.close_end(pipe.read_end);
        }
    }
}

struct RunningTool {
    SpawnedProcess process;
    Pipe out;
    Pipe err;
    ToolOutput output;

    ~RunningTool() {
        if (process.pidfd >= 0) ::close(process.pidfd);
    }
    void read_both() {
        read_available(out, output.out);
        read_available(err, output.err);
    }
};

// True once the process has ended; false when `until` has passed.
bool wait_for_end(RunningTool& tool, std::chrono::steady_clock::time_point until) {
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        std::array<pollfd, 3> fds = {{{tool.process.pidfd, POLLIN, 0},
                                      {tool.out.read_end, POLLIN, 0},
                                      {tool.err.read_end, POLLIN, 0}}};
        ::poll(fds.data(), fds.size(), static_cast<int>(left.count()) + 1);
        tool.read_both();
        if ((fds[0].revents & POLLIN) != 0) return true;
    }
}

// A folder has the execute permission too.
bool is_program(const std::string& file) {
    struct stat facts {};
    return ::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           ::access(file.c_str(), X_OK) == 0;
}

void drain(RunningTool& tool) {
    const auto until = std::chrono::steady_clock::now() + kDrain;
    tool.read_both();
    while ((tool.out.read_end >= 0 || tool.err.read_end >= 0) &&
           std::chrono::steady_clock::now() < until) {
        std::array<pollfd, 2> fds = {
            {{tool.out.read_end, POLLIN, 0}, {tool.err.read_end, POLLIN, 0}}};
        ::poll(fds.data(), fds.size(), 10);
        tool.read_both();
    }
}

}  // namespace

Result<ToolOutput> run_tool(const std::vector<std::string>& argv, const Environment& environment,
                            std::chrono::milliseconds deadline) {
    RunningTool tool;
    if (!tool.out.open() || !tool.err.open()) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot start {}: {}", argv.front(), std::strerror(errno)));
    }
    Environment adjusted = environment;
    adjusted.set("LC_ALL", "C");
    SpawnOptions options;
    options.argv = argv;
    options.environment = adjusted.to_strings();
    options.stdout_fd = tool.out.write_end;
    options.stderr_fd = tool.err.write_end;
    OPGAUGE_TRY_ASSIGN(tool.process, spawn(options));
    tool.out.close_end(tool.out.write_end);
    tool.err.close_end(tool.err.write_end);
    if (!wait_for_end(tool, std::chrono::steady_clock::now() + deadline)) {
        ::kill(-tool.process.pid, SIGKILL);
        // Reaps it if the kill worked; a process in state D stays behind, and nobody waits for it.
        wait_for_end(tool, std::chrono::steady_clock::now() + kDrain);
        ::waitpid(tool.process.pid, nullptr, WNOHANG);
        return fail(ErrorKind::environment, fmt::format("{} did not end within {}; it was killed",
                                                        argv.front(), duration_text(deadline)));
    }
    drain(tool);
    // What it may have left in its group; before the zombie is reaped, which holds the number.
    ::kill(-tool.process.pid, SIGKILL);
    int status = 0;
    ::waitpid(tool.process.pid, &status, 0);
    if (WIFEXITED(status)) tool.output.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) tool.output.signal = WTERMSIG(status);
    return std::move(tool.output);
}

std::optional<std::string> find_program(const std::string& name, const Environment& environment) {
    if (name.find('/') != std::string::npos) {
        return is_program(name) ? std::optional(name) : std::nullopt;
    }
    const std::string path = environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
    std::size_t start = 0;
    while (start <= path.size()) {
        const auto end = std::min(path.find(':', start), path.size());
        const std::string folder = path.substr(start, end - start);
        const std::string file = (folder.empty() ? "." : folder) + "/" + name;
        if (is_program(file)) return file;
        start = end + 1;
    }
    return std::nullopt;
}

}  // namespace opgauge
