// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/process.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace opgauge {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (const auto& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::string path_variable(const std::vector<std::string>& environment) {
    for (const auto& entry : environment) {
        if (entry.starts_with("PATH=")) return entry.substr(5);
    }
    return "/usr/local/bin:/usr/bin:/bin";
}

// All files that argv[0] could name. Made before fork: afterwards only system calls are safe.
std::vector<std::string> candidates(const SpawnOptions& options) {
    const std::string& program = options.argv.front();
    if (program.find('/') != std::string::npos) return {program};
    std::vector<std::string> result;
    std::string_view path;
    const std::string value = path_variable(options.environment);
    path = value;
    while (true) {
        const auto end = path.find(':');
        const auto folder = path.substr(0, end);
        result.push_back((folder.empty() ? std::string(".") : std::string(folder)) + "/" + program);
        if (end == std::string_view::npos) return result;
        path.remove_prefix(end + 1);
    }
}

// Everything after fork, in the child: system calls only. Returns the errno that exec failed with.
struct ChildSetup {
    const std::vector<std::string>& programs;
    char* const* argv;
    char* const* environment;
    const char* working_directory;
    int stdout_fd;
    int stderr_fd;
    const std::vector<int>& kept_fds;  // sorted
    int error_pipe;
    pid_t parent;
};

void close_other_fds(const ChildSetup& setup) {
    // Ranges between the kept numbers; the error pipe closes itself at exec.
    unsigned first = 3;
    for (const int fd : setup.kept_fds) {
        const auto kept = static_cast<unsigned>(fd);
        if (kept > first) ::syscall(SYS_close_range, first, kept - 1, CLOSE_RANGE_CLOEXEC);
        first = std::max(first, kept + 1);
        const int flags = ::fcntl(fd, F_GETFD);
        if (flags >= 0) ::fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
    }
    ::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC);
}

void reset_signals() {
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int redirect(int fd, int target) {
    const int source = fd >= 0 ? fd : ::open("/dev/null", target == 0 ? O_RDONLY : O_WRONLY);
    if (source < 0) return errno;
    // dup2 onto itself changes nothing, so a close-on-exec flag would survive.
    if (source == target) return ::fcntl(target, F_SETFD, 0) < 0 ? errno : 0;
    return ::dup2(source, target) < 0 ? errno : 0;
}

int run_in_child(const ChildSetup& setup) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died between fork and prctl.
    if (::getppid() != setup.parent) ::_exit(86);
    for (const auto& [fd, target] :
         {std::pair{-1, 0}, {setup.stdout_fd, 1}, {setup.stderr_fd, 2}}) {
        if (const int error = redirect(fd, target); error != 0) return error;
    }
    if (setup.working_directory != nullptr && ::chdir(setup.working_directory) != 0) return errno;
    close_other_fds(setup);
    reset_signals();
    int error = ENOENT;
    for (const auto& program : setup.programs) {
        ::execve(program.c_str(), setup.argv, setup.environment);
        // Keep the most telling reason: a file that exists but may not be run beats "not found".
        if (errno != ENOENT && errno != ENOTDIR) error = errno;
    }
    return error;
}

// Waits until exec has closed the pipe (0) or reads the errno that the child sends.
int read_exec_error(int fd) {
    int error = 0;
    ssize_t n = 0;
    do {
        n = ::read(fd, &error, sizeof error);
    } while (n < 0 && errno == EINTR);
    return n == static_cast<ssize_t>(sizeof error) ? error : 0;
}

tl::unexpected<Error> cannot_start(const SpawnOptions& options, int error) {
    const std::string where =
        options.working_directory.empty() ? "" : " in " + options.working_directory;
    return fail(ErrorKind::environment, fmt::format("cannot start {}{}: {}", options.argv.front(),
                                                    where, std::strerror(error)));
}

}  // namespace

void open_missing_standard_fds() {
    // open() takes the lowest free number, so a gap below it is filled first.
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) ::close(fd);
}

Result<SpawnedProcess> spawn(const SpawnOptions& options) {
    if (options.argv.empty()) return fail(ErrorKind::environment, "no program to start");
    const auto programs = candidates(options);
    const auto argv = pointers_to(options.argv);
    const auto environment = pointers_to(options.environment);
    std::vector<int> kept = options.kept_fds;
    std::sort(kept.begin(), kept.end());
    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return cannot_start(options, errno);
    const ChildSetup setup{
        programs,
        argv.data(),
        environment.data(),
        options.working_directory.empty() ? nullptr : options.working_directory.c_str(),
        options.stdout_fd,
        options.stderr_fd,
        kept,
        pipe_fds[1],
        ::getpid()};
    const pid_t pid = ::fork();
    if (pid == 0) {
        const int error = run_in_child(setup);
        const ssize_t written = ::write(setup.error_pipe, &error, sizeof error);
        ::_exit(written == static_cast<ssize_t>(sizeof error) ? 127 : 126);
    }
    const int fork_error = errno;
    ::close(pipe_fds[1]);
    if (pid < 0) {
        ::close(pipe_fds[0]);
        return cannot_start(options, fork_error);
    }
    // Also here, so that the group exists before the caller signals it.
    ::setpgid(pid, pid);
    const int error = read_exec_error(pipe_fds[0]);
    ::close(pipe_fds[0]);
    if (error != 0) {
        ::waitpid(pid, nullptr, 0);
        return cannot_start(options, error);
    }
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (pidfd < 0) {
        const int open_error = errno;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return cannot_start(options, open_error);
    }
    ::fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    return SpawnedProcess{pid, pidfd};
}

bool is_descendant(long long pid, long long ancestor) {
    constexpr int kDeepest = 64;
    for (int depth = 0; depth < kDeepest && pid > 0; ++depth) {
        if (pid == ancestor) return true;
        const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
        if (!stat) return false;
        // "pid (name) state ppid": the name may hold anything, so count from its last bracket.
        const auto words = split(std::string_view(*stat).substr(stat->rfind(')') + 1), ' ');
        if (words.size() < 3) return false;
        pid = static_cast<long long>(parse_unsigned(words[2]).value_or(0));
    }
    return false;
}

}  // namespace opgauge
