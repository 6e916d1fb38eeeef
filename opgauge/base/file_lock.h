// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <string>

namespace opgauge {

// Makes a folder in which every user of this host may put files and lock them (mode 1777). One that
// is there is taken as it is. Kind environment.
Result<void> make_shared_folder(const std::filesystem::path& folder);

// A file that one process of this host locks at a time (flock). Whatever ends the process, also
// SIGKILL, gives the lock back. The file may belong to another user, is never followed through a
// link and stays when the lock is gone. Programs that are started do not inherit it.
class FileLock {
  public:
    // Opens or creates the file; does not lock it. Kind environment.
    static Result<FileLock> open(const std::filesystem::path& path);
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

    // Never blocks. True: it is held by this object (also where it was already).
    bool try_lock();
    void unlock();
    bool held() const { return held_; }
    // For locks of parts of the file.
    int fd() const { return fd_; }

    // A line about the holder, for the words of those who find it locked. Only the holder writes.
    void describe_holder(const std::string& text);
    // What the present or the last holder wrote; empty: nothing.
    std::string holder() const;

  private:
    FileLock(int fd, std::filesystem::path path);
    int fd_ = -1;
    bool held_ = false;
    std::filesystem::path path_;
};

}  // namespace opgauge
