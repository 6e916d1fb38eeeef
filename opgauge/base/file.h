// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace opgauge {

Result<std::string> read_file(const std::filesystem::path& path);

// A new, empty file beside `path` under a name that nobody else uses; the caller closes `fd`.
struct FileBeside {
    int fd = -1;
    std::filesystem::path path;
};
Result<FileBeside> create_beside(const std::filesystem::path& path);

// Writes beside the target, syncs the file, renames over the target, syncs the folder: a reader
// sees the old content or the new one, after a power loss too.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Appends whole lines to a file that one process owns. Each append is one write call, so a kill
// leaves at most one torn line at the end, which readers drop and report. An append that fails
// (disk full) takes back what it wrote, so that a later one does not begin in the middle of a line.
class LineAppender {
  public:
    static Result<LineAppender> open(const std::filesystem::path& path);
    LineAppender(LineAppender&& other) noexcept;
    LineAppender& operator=(LineAppender&& other) noexcept;
    LineAppender(const LineAppender&) = delete;
    LineAppender& operator=(const LineAppender&) = delete;
    ~LineAppender();

    // `line` has no newline of its own.
    Result<void> append(std::string_view line);
    Result<void> sync();

  private:
    LineAppender(int fd, std::filesystem::path path);
    int fd_ = -1;
    std::filesystem::path path_;
};

}  // namespace opgauge
