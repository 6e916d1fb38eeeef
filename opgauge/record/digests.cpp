// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/digests.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/record/run_dir.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace opgauge {
namespace {

constexpr int kSchemaVersion = 1;

// Names of the regular files in the folder and below it, sorted. Links are not followed.
Result<std::vector<std::string>> files_of(const std::filesystem::path& run_dir) {
    std::vector<std::string> names;
    std::error_code error;
    using Iterator = std::filesystem::recursive_directory_iterator;
    for (Iterator entry(run_dir, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        if (!entry->is_regular_file(ignored) || entry->is_symlink(ignored)) continue;
        std::string name = entry->path().lexically_relative(run_dir).generic_string();
        if (name != RunFiles::kDigests) names.push_back(std::move(name));
    }
    if (error) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot list {}: {}", run_dir.string(), error.message()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

tl::unexpected<Error> cannot_check(const std::filesystem::path& run_dir, std::string_view why) {
    return fail(ErrorKind::usage,
                fmt::format("{} {}, so nothing tells whether its files are as the run left them",
                            run_dir.string(), why));
}

Result<Json> read_list(const std::filesystem::path& run_dir) {
    const auto path = run_dir / RunFiles::kDigests;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        return cannot_check(run_dir, fmt::format("has no {}", RunFiles::kDigests));
    }
    const auto list = read_json_file(path);
    if (!list || get_optional<int>(*list, "schema_version") != kSchemaVersion ||
        !list->value("files", Json(nullptr)).is_object()) {
        return cannot_check(
            run_dir, fmt::format("has a {} that this opgauge cannot read", RunFiles::kDigests));
    }
    return list->at("files");
}

}  // namespace

Result<void> write_digests(const std::filesystem::path& run_dir) {
    OPGAUGE_TRY_ASSIGN(const auto names, files_of(run_dir));
    Json files = Json::object();
    for (const auto& name : names) {
        OPGAUGE_TRY_ASSIGN(files[name], sha256_of_file(run_dir / name));
    }
    return write_file_atomically(
        run_dir / RunFiles::kDigests,
        to_text({{"schema_version", kSchemaVersion}, {"algorithm", "sha256"}, {"files", files}}));
}

Result<DigestCheck> check_digests(const std::filesystem::path& run_dir) {
    OPGAUGE_TRY_ASSIGN(const Json listed, read_list(run_dir));
    OPGAUGE_TRY_ASSIGN(const auto names, files_of(run_dir));
    DigestCheck check;
    check.files = listed.size();
    for (const auto& [name, digest] : listed.items()) {
        if (!std::binary_search(names.begin(), names.end(), name)) {
            check.missing.push_back(name);
            continue;
        }
        OPGAUGE_TRY_ASSIGN(const std::string now, sha256_of_file(run_dir / name));
        if (digest != now) check.changed.push_back(name);
    }
    for (const auto& name : names) {
        if (!listed.contains(name)) check.added.push_back(name);
    }
    return check;
}

}  // namespace opgauge
