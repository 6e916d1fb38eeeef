// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/resume.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/record/caliber.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/session/kept_tests.h"
#include "opgauge/session/lost_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

// Beside the setup: facts that say which cases there are and how they are measured.
constexpr std::array<CaliberField, 14> kOtherFields = {{{"timer", "/timer/name"},
                                                        {"timer.settings", "/timer/settings"},
                                                        {"timer.fallback", "/timer/fallback"},
                                                        {"tuning.mode", "/tuning/mode"},
                                                        {"tuning.source", "/tuning/source_digest"},
                                                        {"shapes", "/shapes/digest"},
                                                        {"plugins", "/plugins"},
                                                        {"nodes", "/corpus/nodes"},
                                                        {"level", "/settings/level"},
                                                        {"dtypes", "/settings/dtypes"},
                                                        {"stopping", "/settings/stopping"},
                                                        {"precision", "/settings/precision"},
                                                        {"min_samples", "/settings/min_samples"},
                                                        {"max_time", "/settings/max_time_s"}}};

Json at_pointer(const Json& identity, std::string_view pointer) {
    const Json::json_pointer path{std::string(pointer)};
    return identity.contains(path) ? identity.at(path) : Json(nullptr);
}

// What opgauge itself leaves in a folder before it writes the identity.
bool only_a_runs_files(const fs::path& directory) {
    const std::set<std::string> known = {RunFiles::kPlan,    RunFiles::kRows, RunFiles::kSamples,
                                         RunFiles::kEvents,  RunFiles::kLog,  RunFiles::kTuning,
                                         RunFiles::kIdentity};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename().string();
        const bool part = std::any_of(known.begin(), known.end(), [&](const std::string& file) {
            return name.starts_with(file);  // also tuning.db-wal and a file not yet renamed
        });
        if (!part) return false;
    }
    return !error;
}

Result<void> start_anew(const fs::path& directory) {
    if (!only_a_runs_files(directory)) {
        return fail(ErrorKind::refused,
                    fmt::format("{} cannot be resumed: it is no run's folder, it has no {}; it was "
                                "left untouched",
                                directory.string(), RunFiles::kIdentity));
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
        fs::remove(entry.path(), error);
    }
    return {};
}

// A child told what no package's metadata did; this run's child is still to come.
void add_what_children_tell(Json& identity, const Json& earlier) {
    for (const char* name : {"torch", "triton"}) {
        auto& known = identity["software"][name];
        if (known.is_null()) known = at_pointer(earlier, std::string("/software/") + name);
    }
}

Result<void> check_same_caliber(const fs::path& directory, const Json& identity,
                                const Json& earlier) {
    auto differences = setup_differences(earlier, identity);
    for (const auto& field : kOtherFields) {
        Json was = at_pointer(earlier, field.pointer);
        Json is = at_pointer(identity, field.pointer);
        if (was != is) {
            differences.push_back({std::string(field.name), std::move(was), std::move(is)});
        }
    }
    if (differences.empty()) return {};
    std::vector<std::string> texts;
    for (const auto& one : differences) {
        texts.push_back(fmt::format("{} (was {}, is {})", one.name, printable(to_line(one.left)),
                                    printable(to_line(one.right))));
    }
    return fail(ErrorKind::refused,
                fmt::format("{} cannot be resumed: it has another caliber: {}; start a new run",
                            directory.string(), fmt::join(texts, ", ")));
}

using LineTest = std::function<bool(const Json& line)>;

// Keeps the whole lines that `keep` is true of; a torn line at the end goes.
Result<void> cut(const fs::path& file, const LineTest& keep) {
    std::error_code error;
    if (!fs::exists(file, error)) return {};
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(file));
    std::string kept;
    for (const auto& line : lines_of(text)) {
        const bool whole = line.data() + line.size() < text.data() + text.size();
        const Json json = Json::parse(line, nullptr, false);
        if (!whole || !json.is_object() || !keep(json)) continue;
        kept.append(line);
        kept.push_back('\n');
    }
    return kept.size() == text.size() ? Result<void>() : write_file_atomically(file, kept);
}

bool is_interrupted(const Row& row) {
    return get_string(row.error, "kind") == LostKind::kInterrupted;
}

Result<void> cut_files(const fs::path& directory, const std::vector<Row>& rows) {
    std::set<int> indices;
    for (const auto& row : rows) indices.insert(row.index);
    const auto of_a_row = [&](const Json& line) {
        return indices.contains(get_optional<int>(line, "index").value_or(0));
    };
    OPGAUGE_TRY(cut(directory / RunFiles::kRows, of_a_row));
    OPGAUGE_TRY(cut(directory / RunFiles::kSamples, of_a_row));
    return cut(directory / RunFiles::kEvents, [](const Json&) { return true; });
}

// Only an interrupted run says that it has more to do.
Result<void> check_unfinished(const RecordedRun& run) {
    const std::string status = run.status ? get_string(*run.status, "status") : "interrupted";
    if (status == "interrupted") return {};
    return fail(ErrorKind::refused, fmt::format("{} cannot be resumed: it is finished ({})",
                                                run.directory.string(), printable(status)));
}

}  // namespace

Result<KeptRun> resume_run(const fs::path& directory, Json& identity) {
    std::error_code error;
    if (!fs::exists(directory / RunFiles::kIdentity, error)) {
        OPGAUGE_TRY(start_anew(directory));
        return KeptRun{};
    }
    OPGAUGE_TRY_ASSIGN(RecordedRun run, read_run(directory));
    OPGAUGE_TRY(check_unfinished(run));
    add_what_children_tell(identity, run.identity);
    OPGAUGE_TRY(check_same_caliber(directory, identity, run.identity));
    for (const char* name : {RunFiles::kStatus, RunFiles::kDigests}) {
        fs::remove(directory / name, error);
    }
    KeptRun kept;
    std::erase_if(run.rows, is_interrupted);
    kept.rows = std::move(run.rows);
    OPGAUGE_TRY(cut_files(directory, kept.rows));
    OPGAUGE_TRY_ASSIGN(kept.tests, read_finished_tests(directory / RunFiles::kEvents));
    identity["resumed_utc"] = run.identity.value("resumed_utc", Json::array());
    identity["resumed_utc"].push_back(identity["created_utc"]);
    for (const char* name : {"run_id", "created_utc"}) identity[name] = run.identity[name];
    return kept;
}

}  // namespace opgauge
