// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <functional>

namespace opgauge {

// The calls that make a finished file visible under its name. Tests put their own in place to see
// the order and to fail one of them; each returns 0 or an errno.
struct CommitCalls {
    std::function<int(const std::filesystem::path&)> sync;
    std::function<int(const std::filesystem::path&, const std::filesystem::path&)> rename;
    std::function<int(const std::filesystem::path&, const std::filesystem::path&)> link;
    std::function<int(const std::filesystem::path&)> unlink;
    static CommitCalls of_this_system();
};

enum class IfThere { replace, refuse };

// Syncs `from` and its folder, gives it the name `to`, syncs the folder again: whoever looks, after
// a power loss too, sees no file, the old one or the whole new one. `from` and `to` are in one
// folder. With IfThere::refuse a file that is already there stays and the error says so. `from` is
// gone afterwards in any case.
Result<void> commit_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         IfThere if_there,
                         const CommitCalls& calls = CommitCalls::of_this_system());

// A name beside `path` that no other process uses; the file exists and is empty.
Result<std::filesystem::path> unused_name_beside(const std::filesystem::path& path);

}  // namespace opgauge
