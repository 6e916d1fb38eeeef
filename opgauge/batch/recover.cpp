// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/recover.h"

#include "opgauge/record/result_reader.h"
#include "opgauge/record/run_dir.h"

#include <fmt/format.h>

#include <set>
#include <system_error>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

// What a run says of itself elsewhere than in its status.
void add_identity(EntryResult& result, const fs::path& run_dir) {
    const auto identity = read_json_file(run_dir / RunFiles::kIdentity);
    if (!identity) return;
    const auto text_at = [&](const char* pointer) {
        const Json::json_pointer path{std::string(pointer)};
        const bool there = identity->contains(path) && identity->at(path).is_string();
        return there ? identity->at(path).get<std::string>() : std::string();
    };
    result.timer = text_at("/timer/name");
    result.tuning = text_at("/tuning/mode");
    result.device = text_at("/device/token");
}

bool has_files(const fs::path& folder) {
    std::error_code error;
    return fs::is_directory(folder, error) && !fs::is_empty(folder, error) && !error;
}

// Seconds that an attempt took which goes on in another one are told here, as lost to the item.
double recover(const fs::path& batch, BatchItem& item) {
    const double before = item.result.time ? item.result.time->sum() : 0;
    item.state = EntryState::pending;
    item.result = {};
    const fs::path folder = batch / item.run_dir;
    if (auto ended = ended_run(folder)) {
        item.result = std::move(*ended);
        item.state = EntryState::finished;
        return before;
    }
    item.attempts = 0;
    item.resume = has_files(folder);
    return before;
}

}  // namespace

void assign_run_dirs(std::vector<BatchItem>& items) {
    std::set<std::string> taken;
    for (auto& item : items) {
        const std::string name = as_file_name(item.entry.name);
        std::string unique = name;
        // No name of a folder has a '~' of its own.
        for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}~{}", name, i);
        item.run_dir = fmt::format("{}/{}", BatchFiles::kRuns, unique);
    }
}

std::optional<EntryResult> ended_run(const fs::path& run_dir) {
    const auto status = read_json_file(run_dir / RunFiles::kStatus);
    if (!status) return std::nullopt;
    EntryResult result = result_of(*status);
    if (result.status.empty() || result.status == "interrupted") return std::nullopt;
    add_identity(result, run_dir);
    return result;
}

RowCounts rows_in(const fs::path& run_dir) {
    RowCounts counts;
    const auto run = read_run(run_dir);
    if (!run) return counts;
    for (const Row& row : run->rows) {
        switch (row.status) {
            case RowStatus::ok:
                ++counts.ok;
                break;
            case RowStatus::failed:
                ++counts.failed;
                break;
            case RowStatus::invalid:
                ++counts.invalid;
                break;
            case RowStatus::skipped:
                ++counts.skipped;
                break;
        }
        if (!row.flags.empty()) ++counts.flagged;
    }
    return counts;
}

void prepare_to_go_on(Batch& batch) {
    for (auto& item : batch.items) {
        if (is_finished(item)) continue;
        batch.outside[TimePart::lost] += recover(batch.folder, item);
    }
    batch.state = "running";
    batch.exit_code = 0;
}

}  // namespace opgauge
