// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/commit_file.h"

#include "opgauge/base/file.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace opgauge {
namespace {

int sync_path(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int status = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    return status == EINVAL ? 0 : status;  // a file system that cannot sync folders
}

Result<void> checked(int status, std::string_view verb, const std::filesystem::path& path) {
    if (status == 0) return {};
    return fail(ErrorKind::environment,
                fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(status)));
}

// A hard link, unlike a rename, never replaces a file that came in between.
Result<void> give_name(const std::filesystem::path& from, const std::filesystem::path& to,
                       IfThere if_there, const CommitCalls& calls) {
    if (if_there == IfThere::replace) return checked(calls.rename(from, to), "rename onto", to);
    const int status = calls.link(from, to);
    if (status == EEXIST) {
        return fail(ErrorKind::refused,
                    fmt::format("{} is already there: choose another name", to.string()));
    }
    return checked(status, "create", to);
}

Result<void> commit_steps(const std::filesystem::path& from, const std::filesystem::path& to,
                          IfThere if_there, const CommitCalls& calls) {
    const auto folder = to.has_parent_path() ? to.parent_path() : std::filesystem::path(".");
    OPGAUGE_TRY(checked(calls.sync(from), "sync", from));
    OPGAUGE_TRY(checked(calls.sync(folder), "sync the folder", folder));
    OPGAUGE_TRY(give_name(from, to, if_there, calls));
    return checked(calls.sync(folder), "sync the folder", folder);
}

}  // namespace

CommitCalls CommitCalls::of_this_system() {
    using Path = std::filesystem::path;
    return {
        .sync = sync_path,
        .rename =
            [](const Path& from, const Path& to) {
                return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
            },
        .link = [](const Path& from,
                   const Path& to) { return ::link(from.c_str(), to.c_str()) == 0 ? 0 : errno; },
        .unlink = [](const Path& path) { return ::unlink(path.c_str()) == 0 ? 0 : errno; }};
}

Result<void> commit_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         IfThere if_there, const CommitCalls& calls) {
    auto done = commit_steps(from, to, if_there, calls);
    if (!done || if_there == IfThere::refuse) calls.unlink(from);
    return done;
}

Result<std::filesystem::path> unused_name_beside(const std::filesystem::path& path) {
    OPGAUGE_TRY_ASSIGN(FileBeside beside, create_beside(path));
    ::close(beside.fd);
    return std::move(beside.path);
}

}  // namespace opgauge
