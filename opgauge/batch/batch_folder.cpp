// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/batch_folder.h"

#include "opgauge/base/file.h"
#include "opgauge/batch/status_table.h"
#include "opgauge/record/run_dir.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

// One entry a line, so that a person finds one and nothing but what changed is made again.
std::string batch_text(const Json& header, const std::vector<std::string>& items) {
    std::string text = "{\n";
    for (const auto& [name, value] : header.items()) {
        text += fmt::format("  {}: {},\n", to_line(name), to_line(value));
    }
    text += "  \"operators\": [";
    for (std::size_t i = 0; i < items.size(); ++i) {
        text += i == 0 ? "\n    " : ",\n    ";
        text += items[i];
    }
    return text + "\n  ]\n}\n";
}

Result<void> make_folders(const fs::path& folder) {
    for (const char* name : {BatchFiles::kRuns, BatchFiles::kLanes}) {
        std::error_code error;
        fs::create_directories(folder / name, error);
        if (error) {
            return fail(
                ErrorKind::environment,
                fmt::format("cannot make {}: {}", (folder / name).string(), error.message()));
        }
    }
    return {};
}

}  // namespace

BatchFolder::BatchFolder(BatchFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      json_lines_(std::move(other.json_lines_)),
      csv_lines_(std::move(other.csv_lines_)) {}

BatchFolder& BatchFolder::operator=(BatchFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_fd_, other.lock_fd_);
    std::swap(json_lines_, other.json_lines_);
    std::swap(csv_lines_, other.csv_lines_);
    return *this;
}

BatchFolder::~BatchFolder() {
    if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<BatchFolder> BatchFolder::claim(const fs::path& root, const fs::path& exact,
                                       std::chrono::system_clock::time_point now) {
    OPGAUGE_TRY_ASSIGN(
        auto path, exact.empty() ? claim_run_dir(root, "batch", now) : claim_exact_run_dir(exact));
    BatchFolder folder(path.lexically_normal());
    OPGAUGE_TRY(folder.lock());
    OPGAUGE_TRY(make_folders(folder.path_));
    return folder;
}

Result<BatchFolder> BatchFolder::open(const fs::path& path) {
    std::error_code error;
    BatchFolder folder(fs::absolute(path, error).lexically_normal());
    OPGAUGE_TRY(folder.lock());
    OPGAUGE_TRY(make_folders(folder.path_));
    return folder;
}

Result<void> BatchFolder::lock() {
    const fs::path file = path_ / BatchFiles::kLock;
    lock_fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (lock_fd_ < 0) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
    }
    if (::flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) return {};
    return fail(ErrorKind::refused,
                fmt::format("the batch {} is being run by another process; `opgauge batch status` "
                            "shows it",
                            path_.string()));
}

bool BatchFolder::is_held(const fs::path& folder) {
    const int fd = ::open((folder / BatchFiles::kLock).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0;
    ::close(fd);
    return held;
}

void BatchFolder::touch(std::size_t item) {
    if (item >= json_lines_.size()) return;
    json_lines_[item].clear();
    csv_lines_[item].clear();
}

Result<void> BatchFolder::save(const Batch& batch) {
    json_lines_.resize(batch.items.size());
    csv_lines_.resize(batch.items.size());
    std::string csv = status_head();
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        if (json_lines_[i].empty()) {
            json_lines_[i] = to_line(to_json(batch.items[i]));
            csv_lines_[i] = status_line_of(batch.items[i], batch.backend);
        }
        csv += csv_lines_[i];
    }
    // The file that a batch goes on from comes first.
    OPGAUGE_TRY(write_file_atomically(path_ / BatchFiles::kBatch,
                                      batch_text(header_json(batch), json_lines_)));
    return write_file_atomically(path_ / BatchFiles::kStatus, csv);
}

void BatchFolder::save_live(const Json& live) {
    // What cannot be written is shown nowhere but on the terminal.
    static_cast<void>(write_file_atomically(path_ / BatchFiles::kLive, to_text(live)));
}

}  // namespace opgauge
