// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/report_source.h"

#include "opgauge/base/text.h"
#include "opgauge/compare/arm.h"
#include "opgauge/record/caliber.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/report/work_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

constexpr const char* kBatchFile = "batch.json";
constexpr const char* kAbFile = "ab.json";  // a comparison, with how its arms were made
constexpr std::size_t kShownDigits = 12;

Result<ReportSource> open_comparison(const std::string& path) {
    auto json = read_json_file(path);
    const bool is_comparison = json && json->is_object() && json->contains("options") &&
                               json->contains("rows") && json->at("rows").is_array() &&
                               json->contains("counts");
    if (!is_comparison) {
        return fail(
            ErrorKind::usage,
            fmt::format("{} is no comparison: {}; write one with `opgauge compare A B "
                        "--json > FILE`, or name a run folder or a batch",
                        path, json ? "it has no options, rows and counts" : json.error().message));
    }
    const int version = get_optional<int>(*json, "schema_version").value_or(0);
    if (version != 1) {
        return fail(ErrorKind::usage,
                    fmt::format("{} has schema version {}, this opgauge reads 1", path, version));
    }
    ReportSource source;
    source.kind = ReportKind::comparison;
    source.path = path;
    source.comparison = std::move(*json);
    return source;
}

// The operator of a run that may have no row.
std::string operator_of(const RecordedRun& run) {
    if (!run.rows.empty()) return run.rows.front().work.operator_name;
    const std::string id = get_string(run.identity, "run_id", run.directory.filename().string());
    const auto stamp = id.rfind("-20");
    return id.substr(0, stamp);
}

void count_row(const Row& row, OperatorSummary& summary) {
    ++summary.rows;
    if (row.status == RowStatus::ok) ++summary.ok;
    if (row.status == RowStatus::failed || row.status == RowStatus::invalid) ++summary.bad;
    if (row.status == RowStatus::skipped) ++summary.skipped;
    if (!row.flags.empty()) ++summary.flagged;
    const auto speedup = row.speedup();
    if (!speedup || !row.flags.empty()) return;
    summary.lowest = std::min(summary.lowest.value_or(*speedup), *speedup);
    summary.highest = std::max(summary.highest.value_or(*speedup), *speedup);
}

OperatorSummary summary_of(const RecordedRun& run) {
    OperatorSummary summary;
    summary.name = operator_of(run);
    summary.status = run.status ? get_string(*run.status, "status", "unknown") : "incomplete";
    if (run.status) summary.reason = get_string(*run.status, "reason");
    for (const auto& row : run.rows) count_row(row, summary);
    std::tie(summary.geomean, summary.geomean_n) = geomean_speedup(run.rows);
    return summary;
}

// What the batch's file says of one operator.
struct BatchEntry {
    std::string folder;  // of its run, its last part; empty: none was begun
    OperatorSummary summary;
};

std::vector<BatchEntry> batch_entries(const Json& batch) {
    std::vector<BatchEntry> entries;
    if (!batch.is_object()) return entries;
    const auto list = batch.find("operators");
    if (list == batch.end() || !list->is_array()) return entries;
    for (const auto& entry : *list) {
        BatchEntry& made = entries.emplace_back();
        made.folder = std::filesystem::path(get_string(entry, "run_dir")).filename().string();
        made.summary.name = get_string(entry, "operator", get_string(entry, "name"));
        made.summary.status = get_string(entry, "status");
        if (made.summary.status.empty()) {
            made.summary.status = get_string(entry, "state", "not_run");
        }
        made.summary.reason = get_string(entry, "reason");
    }
    return entries;
}

std::string fact(const Json& identity, const char* pointer) {
    const Json::json_pointer path{std::string(pointer)};
    if (!identity.contains(path) || identity.at(path).is_null()) return "";
    const Json& value = identity.at(path);
    return printable(value.is_string() ? value.get<std::string>() : to_line(value));
}

// What a reader asks for first, of one setup.
std::string setup_text(const Json& identity) {
    constexpr std::array<std::pair<const char*, const char*>, 6> kNamed = {{
        {"driver", "/driver"},
        {"torch", "/software/torch"},
        {"triton", "/software/triton"},
        {"timer", "/timer/name"},
        {"tuning", "/tuning/mode"},
        {"shapes", "/shapes/source"},
    }};
    std::string text = fact(identity, "/backend/name") + " " + fact(identity, "/device/name");
    for (const auto& [name, pointer] : kNamed) {
        const std::string value = fact(identity, pointer);
        if (!value.empty()) text += fmt::format(", {} {}", name, value);
    }
    const std::string corpus = fact(identity, "/corpus/name");
    if (!corpus.empty()) text += ", corpus " + corpus;
    const std::string commit = fact(identity, "/corpus/commit").substr(0, kShownDigits);
    if (!commit.empty()) text += " " + commit;
    if (!fact(identity, "/corpus/dirty_digest").empty()) text += " with changes";
    return text;
}

}  // namespace

std::string_view name_of(ReportKind kind) {
    switch (kind) {
        case ReportKind::run:
            return "run";
        case ReportKind::batch:
            return "batch";
        case ReportKind::comparison:
            return "comparison";
    }
    return "run";
}

Result<ReportSource> open_report(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return open_comparison(path);
    const auto ab = std::filesystem::path(path) / kAbFile;
    if (std::filesystem::is_regular_file(ab, error)) return open_comparison(ab.string());
    const std::array<std::string, 1> paths = {path};
    OPGAUGE_TRY_ASSIGN(const auto folders, find_runs(paths));
    ReportSource source;
    source.path = path;
    const bool itself = folders.size() == 1 && folders.front() == path;
    source.kind = itself ? ReportKind::run : ReportKind::batch;
    for (const auto& folder : folders) {
        OPGAUGE_TRY_ASSIGN(RecordedRun run, read_run(folder));
        source.runs.push_back(std::move(run));
    }
    const auto file = std::filesystem::path(path) / kBatchFile;
    if (std::filesystem::exists(file, error)) {
        OPGAUGE_TRY_ASSIGN(source.batch, read_json_file(file));
        // A file of another version says nothing of it.
        if (const auto batch = read_batch(path)) source.time = time_of(*batch);
    }
    return source;
}

std::vector<OperatorSummary> operator_summaries(const ReportSource& source) {
    std::vector<OperatorSummary> summaries;
    std::map<std::string, std::size_t> places;
    for (const auto& run : source.runs) {
        places[run.directory.filename().string()] = summaries.size();
        summaries.push_back(summary_of(run));
    }
    for (const auto& entry : batch_entries(source.batch)) {
        const auto place = places.find(entry.folder);
        if (place == places.end()) {
            summaries.push_back(entry.summary);
        } else if (!source.runs[place->second].status) {
            // The run was cut off; the batch knows by what.
            summaries[place->second].status = entry.summary.status;
            summaries[place->second].reason = entry.summary.reason;
        }
    }
    return summaries;
}

OperatorSummary total_of(const ReportSource& source) {
    OperatorSummary total;
    std::vector<double> speedups;
    for (const auto& run : source.runs) {
        for (const auto& row : run.rows) {
            count_row(row, total);
            const auto speedup = row.speedup();
            if (speedup && row.flags.empty()) speedups.push_back(*speedup);
        }
    }
    total.geomean = geometric_mean(speedups);
    total.geomean_n = speedups.size();
    return total;
}

std::vector<std::string> caliber_lines(const ReportSource& source) {
    std::map<std::string, std::size_t> places;
    std::vector<std::pair<std::string, std::size_t>> lines;  // text, runs
    std::vector<std::string> calibers;
    for (const auto& run : source.runs) {
        const std::string text = setup_text(run.identity);
        const auto [place, fresh] = places.try_emplace(setup_id(run.identity) + text, lines.size());
        if (fresh) {
            lines.emplace_back(text, 0);
            calibers.push_back(get_string(run.identity, "caliber_id", "none"));
        }
        ++lines[place->second].second;
    }
    std::vector<std::string> result;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string line = fmt::format("caliber {}: {}", printable(calibers[i]), lines[i].first);
        if (lines.size() > 1) line += fmt::format(" ({})", counted(lines[i].second, "run"));
        result.push_back(std::move(line));
    }
    return result;
}

std::vector<std::string> source_warnings(const ReportSource& source) {
    std::vector<std::string> warnings;
    const auto incomplete =
        std::count_if(source.runs.begin(), source.runs.end(),
                      [](const RecordedRun& run) { return !run.status.has_value(); });
    if (incomplete > 0) {
        warnings.push_back(
            fmt::format("INCOMPLETE: {} of {} runs have no status.json; they were "
                        "cut off, or still run",
                        incomplete, source.runs.size()));
    }
    const std::size_t setups = caliber_lines(source).size();
    if (setups > 1) {
        warnings.push_back(
            fmt::format("the runs have {} setups: their times are not comparable "
                        "with each other",
                        setups));
    }
    for (const auto& run : source.runs) {
        for (const auto& warning : run.warnings) warnings.push_back(printable(warning));
    }
    return warnings;
}

bool has_ceilings(const ReportSource& source) {
    return std::any_of(source.runs.begin(), source.runs.end(),
                       [](const RecordedRun& run) { return ceilings_of(run.identity).known(); });
}

bool has_work(const ReportSource& source) {
    for (const auto& run : source.runs) {
        for (const auto& row : run.rows) {
            const Achieved rates = achieved(row, row.candidate ? row.candidate : row.base, {});
            if (rates.bytes_per_s || rates.flops_per_s) return true;
        }
    }
    return false;
}

}  // namespace opgauge
