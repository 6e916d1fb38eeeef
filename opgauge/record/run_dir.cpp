// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/run_dir.h"

#include "opgauge/base/clock.h"

#include <fmt/format.h>

#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace opgauge {
namespace {

constexpr int kMostSuffixes = 100'000;
constexpr std::size_t kLongestName = 100;

// `option` is the one that chose the folder.
tl::unexpected<Error> cannot_make(const std::filesystem::path& path, const std::string& reason,
                                  const char* option) {
    return fail(ErrorKind::environment,
                fmt::format("cannot make the run folder {}: {}; choose another with {}",
                            path.string(), reason, option));
}

}  // namespace

std::string as_file_name(const std::string& text) {
    std::string name;
    for (const char c : text.substr(0, kLongestName)) {
        const bool plain =
            std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
        name.push_back(plain ? c : '_');
    }
    if (name.empty() || name[0] == '.') return fmt::format("_{}", name);
    return name;
}

Result<std::filesystem::path> claim_run_dir(const std::filesystem::path& root,
                                            const std::string& operator_name,
                                            std::chrono::system_clock::time_point now) {
    std::error_code error;
    std::filesystem::create_directories(root, error);
    if (error) return cannot_make(root, error.message(), "--root");
    const std::string name = as_file_name(operator_name) + "-" + utc_file_stamp(now);
    for (int suffix = 1; suffix < kMostSuffixes; ++suffix) {
        const auto path = root / (suffix == 1 ? name : fmt::format("{}-{}", name, suffix));
        if (::mkdir(path.c_str(), 0777) == 0) return std::filesystem::absolute(path);
        if (errno != EEXIST) return cannot_make(path, std::strerror(errno), "--root");
    }
    return cannot_make(root / name, "too many runs of this name", "--root");
}

Result<std::filesystem::path> claim_exact_run_dir(const std::filesystem::path& path) {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) return cannot_make(path, error.message(), "--run-dir");
    if (::mkdir(path.c_str(), 0777) == 0) return std::filesystem::absolute(path);
    if (errno != EEXIST) return cannot_make(path, std::strerror(errno), "--run-dir");
    if (!std::filesystem::is_directory(path, error)) {
        return fail(ErrorKind::refused,
                    fmt::format("--run-dir {} is not a folder; name another", path.string()));
    }
    const bool empty = std::filesystem::is_empty(path, error);
    if (error) return cannot_make(path, error.message(), "--run-dir");
    if (!empty) {
        return fail(ErrorKind::refused,
                    fmt::format("--run-dir {} is not empty; it was left untouched, name another",
                                path.string()));
    }
    return std::filesystem::absolute(path);
}

}  // namespace opgauge
