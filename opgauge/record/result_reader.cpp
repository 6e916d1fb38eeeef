// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/result_reader.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/record/run_dir.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <string_view>
#include <system_error>

namespace opgauge {
namespace {

using LineTest = std::function<bool(std::string_view)>;

struct JsonLines {
    std::vector<Json> values;
    std::optional<std::string> torn;  // said of a last line that a kill cut
};

// Only the last line may be torn: it has no newline, or it is not JSON. Lines that `skip` is true
// of are not parsed.
Result<JsonLines> read_json_lines(const std::filesystem::path& path, const LineTest& skip) {
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(path));
    const auto lines = lines_of(text);
    const bool ended = text.empty() || text.back() == '\n';
    JsonLines result;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (skip(lines[i])) continue;
        const std::string what = fmt::format("line {} of {}", i + 1, path.string());
        auto value = parse_json(lines[i], what);
        const bool last = i + 1 == lines.size();
        if (last && (!ended || !value)) {
            result.torn = fmt::format("{} is torn and was dropped", what);
            break;
        }
        if (!value) return tl::unexpected<Error>(value.error());
        result.values.push_back(std::move(*value));
    }
    return result;
}

bool parse_all(std::string_view) {
    return false;
}

// The index of a line of samples where it comes first, as opgauge writes it: most lines are of
// other rows, and long.
std::optional<int> index_at_start(std::string_view line) {
    constexpr std::string_view kStart = "{\"index\":";
    if (!line.starts_with(kStart)) return std::nullopt;
    line.remove_prefix(kStart.size());
    int index = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
    const bool whole = error == std::errc{} && end != line.data() + line.size() && *end == ',';
    return whole ? std::optional(index) : std::nullopt;
}

std::vector<Burst> bursts_of(const Json& line) {
    std::vector<Burst> bursts;
    const auto list = line.find("bursts");
    if (list == line.end() || !list->is_array()) return bursts;
    for (const auto& entry : *list) {
        Burst burst;
        burst.samples = get_optional<std::size_t>(entry, "samples").value_or(0);
        burst.sm_clock_mhz = get_optional<double>(entry, "sm_clock_mhz");
        burst.temperature_celsius = get_optional<double>(entry, "temperature_celsius");
        burst.power_watts = get_optional<double>(entry, "power_watts");
        burst.throttle_reasons = get_optional<std::vector<std::string>>(entry, "throttle_reasons")
                                     .value_or(burst.throttle_reasons);
        bursts.push_back(std::move(burst));
    }
    return bursts;
}

// One line of samples.jsonl.
void take_side(const Json& line, RecordedSamples& taken) {
    SideSamples samples;
    samples.timer = get_string(line, "timer");
    samples.calls_per_sample = get_optional<int>(line, "calls_per_sample").value_or(1);
    samples.values_ns =
        get_optional<std::vector<double>>(line, "values_ns").value_or(samples.values_ns);
    samples.bursts = bursts_of(line);
    samples.dropped_bursts = get_optional<int>(line, "dropped_bursts").value_or(0);
    (get_string(line, "side") == "base" ? taken.base : taken.candidate) = std::move(samples);
}

Result<RecordedRun> read_whole_run(const std::filesystem::path& directory) {
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
        return fail(ErrorKind::usage,
                    fmt::format("{} is not a run folder: no such folder", directory.string()));
    }
    if (!std::filesystem::exists(directory / RunFiles::kIdentity, error)) {
        return fail(ErrorKind::usage, fmt::format("{} is not a run folder: it has no {}",
                                                  directory.string(), RunFiles::kIdentity));
    }
    RecordedRun run;
    run.directory = directory;
    OPGAUGE_TRY_ASSIGN(run.identity, read_json_file(directory / RunFiles::kIdentity));
    const int version = get_optional<int>(run.identity, "schema_version").value_or(0);
    if (version != 1) {
        return fail(ErrorKind::failed, fmt::format("{} has schema version {}, this opgauge reads 1",
                                                   directory.string(), version));
    }
    if (std::filesystem::exists(directory / RunFiles::kStatus, error)) {
        OPGAUGE_TRY_ASSIGN(run.status, read_json_file(directory / RunFiles::kStatus));
    }
    if (!std::filesystem::exists(directory / RunFiles::kRows, error)) return run;
    OPGAUGE_TRY_ASSIGN(const JsonLines lines,
                       read_json_lines(directory / RunFiles::kRows, parse_all));
    if (lines.torn) run.warnings.push_back(*lines.torn);
    for (const auto& value : lines.values) {
        OPGAUGE_TRY_ASSIGN(Row row, row_from_json(value));
        run.rows.push_back(std::move(row));
    }
    return run;
}

}  // namespace

Result<RecordedRun> read_run(const std::filesystem::path& directory) {
    auto run = read_whole_run(directory);
    if (run || run.error().kind != ErrorKind::failed) return run;
    // Somebody named this folder, and it is not what it should be: no operator has failed.
    return fail(ErrorKind::usage, run.error().message + "; name a folder as `opgauge run` left it");
}

Result<RecordedSamples> read_samples(const std::filesystem::path& directory, int row_index) {
    const auto is_another = [row_index](std::string_view line) {
        return index_at_start(line).value_or(row_index) != row_index;
    };
    OPGAUGE_TRY_ASSIGN(const JsonLines lines,
                       read_json_lines(directory / RunFiles::kSamples, is_another));
    RecordedSamples result;
    for (const auto& line : lines.values) {
        if (get_optional<int>(line, "index") == row_index) take_side(line, result);
    }
    return result;
}

Result<std::map<int, RecordedSamples>> read_all_samples(const std::filesystem::path& directory) {
    OPGAUGE_TRY_ASSIGN(const JsonLines lines,
                       read_json_lines(directory / RunFiles::kSamples, parse_all));
    std::map<int, RecordedSamples> result;
    for (const auto& line : lines.values) {
        if (const auto index = get_optional<int>(line, "index")) take_side(line, result[*index]);
    }
    return result;
}

}  // namespace opgauge
