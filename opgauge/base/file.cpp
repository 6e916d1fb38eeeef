// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace opgauge {
namespace {

tl::unexpected<Error> io_error(std::string_view verb, const std::filesystem::path& path) {
    return fail(ErrorKind::environment,
                fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(errno)));
}

Result<void> write_all(int fd, std::string_view content, const std::filesystem::path& path) {
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return io_error("write", path);
        content.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

Result<void> sync_folder(const std::filesystem::path& path) {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return io_error("open the folder", folder);
    const int status = ::fsync(fd);
    ::close(fd);
    if (status != 0 && errno != EINVAL) return io_error("sync the folder", folder);
    return {};
}

Result<void> write_and_sync(int fd, std::string_view content, const std::filesystem::path& path) {
    OPGAUGE_TRY(write_all(fd, content, path));
    if (::fsync(fd) != 0) return io_error("sync", path);
    return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error("read", path);
    std::string text;
    char buffer[1 << 16];
    ssize_t n = 0;
    while ((n = ::read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        text.append(buffer, static_cast<std::size_t>(n));
    }
    const int saved = errno;
    ::close(fd);
    errno = saved;
    if (n < 0) return io_error("read", path);
    return text;
}

Result<FileBeside> create_beside(const std::filesystem::path& path) {
    std::string name = path.string() + ".XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return io_error("create a file beside", path);
    ::fchmod(fd, 0644);
    return FileBeside{fd, name};
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content) {
    OPGAUGE_TRY_ASSIGN(const FileBeside beside, create_beside(path));
    const auto written = write_and_sync(beside.fd, content, beside.path);
    ::close(beside.fd);
    if (!written) {
        ::unlink(beside.path.c_str());
        return written;
    }
    if (::rename(beside.path.c_str(), path.c_str()) != 0) {
        const auto error = io_error("rename onto", path);
        ::unlink(beside.path.c_str());
        return error;
    }
    return sync_folder(path);
}

LineAppender::LineAppender(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

LineAppender::LineAppender(LineAppender&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

LineAppender& LineAppender::operator=(LineAppender&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(path_, other.path_);
    return *this;
}

LineAppender::~LineAppender() {
    if (fd_ >= 0) ::close(fd_);
}

Result<LineAppender> LineAppender::open(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return io_error("open", path);
    return LineAppender(fd, path);
}

Result<void> LineAppender::append(std::string_view line) {
    std::string whole(line);
    whole.push_back('\n');
    struct stat before {};
    const bool known = ::fstat(fd_, &before) == 0 && S_ISREG(before.st_mode);
    auto written = write_all(fd_, whole, path_);
    if (!written && known && ::ftruncate(fd_, before.st_size) != 0) {
        written.error().message += "; the line stays torn";
    }
    return written;
}

Result<void> LineAppender::sync() {
    if (::fdatasync(fd_) != 0) return io_error("sync", path_);
    return {};
}

}  // namespace opgauge
