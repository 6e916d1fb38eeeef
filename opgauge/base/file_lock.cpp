// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file_lock.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace opgauge {
namespace {

constexpr mode_t kFolderMode = 01777;
constexpr mode_t kFileMode = 0666;
constexpr std::size_t kShownHolder = 300;

// Some kernels (fs.protected_regular) refuse O_CREAT on a file of another user in a folder that all
// may write, so that is said only where there is no file yet.
int open_or_create(const char* path) {
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (int round = 0; round < 2; ++round) {
        const int known = ::open(path, kFlags);
        if (known >= 0 || errno != ENOENT) return known;
        const int made = ::open(path, kFlags | O_CREAT | O_EXCL, kFileMode);
        if (made >= 0) {
            ::fchmod(made, kFileMode);  // whatever the umask says: other users lock it too
            return made;
        }
        if (errno != EEXIST) return -1;
    }
    return -1;
}

}  // namespace

Result<void> make_shared_folder(const std::filesystem::path& folder) {
    if (::mkdir(folder.c_str(), kFolderMode) == 0) {
        ::chmod(folder.c_str(), kFolderMode);
        return {};
    }
    const int error = errno;
    struct stat status {};
    if (error == EEXIST && ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        return {};
    }
    return fail(ErrorKind::environment,
                fmt::format("cannot make the folder of locks {}: {}; name another with "
                            "OPGAUGE_LOCKS",
                            folder.string(), std::strerror(error)));
}

Result<FileLock> FileLock::open(const std::filesystem::path& path) {
    const int fd = open_or_create(path.c_str());
    if (fd < 0) {
        return fail(ErrorKind::environment, fmt::format("cannot open the lock {}: {}",
                                                        path.string(), std::strerror(errno)));
    }
    return FileLock(fd, path);
}

FileLock::FileLock(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      held_(std::exchange(other.held_, false)),
      path_(std::move(other.path_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(held_, other.held_);
    std::swap(path_, other.path_);
    return *this;
}

FileLock::~FileLock() {
    unlock();
    if (fd_ >= 0) ::close(fd_);
}

bool FileLock::try_lock() {
    if (!held_) held_ = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
    return held_;
}

// Told to the kernel, not left to close(): a process that is being started may still have a copy.
void FileLock::unlock() {
    if (held_) ::flock(fd_, LOCK_UN);
    held_ = false;
}

void FileLock::describe_holder(const std::string& text) {
    if (!held_ || ::ftruncate(fd_, 0) != 0) return;
    // Only the words of another's refusal are lost where it cannot be written.
    static_cast<void>(!::pwrite(fd_, text.data(), text.size(), 0));
}

std::string FileLock::holder() const {
    const auto text = read_file(path_);
    return text ? printable(trim(*text), kShownHolder) : std::string();
}

}  // namespace opgauge
