// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/arm.h"

#include "opgauge/base/usable_cores.h"
#include "opgauge/record/caliber.h"
#include "opgauge/record/run_dir.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <set>
#include <system_error>

namespace opgauge {
namespace {

constexpr std::size_t kMostReaders = 8;

bool is_run(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path / RunFiles::kIdentity, error);
}

// Run folders below `path`, by name. A run is not searched for others.
void collect_runs(const std::filesystem::path& path, int depth,
                  std::vector<std::filesystem::path>& found) {
    if (is_run(path)) {
        found.push_back(path);
        return;
    }
    if (depth == 0) return;
    std::error_code error;
    std::vector<std::filesystem::path> folders;
    for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
            folders.push_back(entry->path());
        }
    }
    std::sort(folders.begin(), folders.end());
    for (const auto& folder : folders) collect_runs(folder, depth - 1, found);
}

double quartile_range(const Summary& summary) {
    return (summary.upper_quartile - summary.lower_quartile) / summary.median;
}

// Value, interval and spread of one side.
void take_side(const std::optional<SideResult>& side, std::string_view name, Measurement& taken) {
    if (!side || !side->summary) {
        taken.trouble = fmt::format("no {}", name);
        return;
    }
    const Summary& summary = *side->summary;
    taken.value = summary.median;
    taken.interval = summary.median_interval;
    taken.quartile_range = quartile_range(summary);
}

// Both ends at once: the interval holds at least what the sides' own hold.
void take_speedup(const Row& row, Measurement& taken) {
    const auto speedup = row.speedup();
    if (!speedup) {
        taken.trouble = row.reason.empty() ? "no speed-up" : row.reason;
        return;
    }
    taken.value = *speedup;
    const Summary& base = *row.base->summary;
    const Summary& candidate = *row.candidate->summary;
    if (base.median_interval && candidate.median_interval) {
        taken.interval = {base.median_interval->first / candidate.median_interval->second,
                          base.median_interval->second / candidate.median_interval->first};
    }
    taken.quartile_range = std::max(quartile_range(base), quartile_range(candidate));
}

// Members in another order are no difference.
bool is_same_use(const TimerUse& left, const TimerUse& right) {
    if (left.name != right.name) return false;
    if (left.settings == right.settings) return true;
    return nlohmann::json::parse(to_line(left.settings)) ==
           nlohmann::json::parse(to_line(right.settings));
}

std::size_t number_of(const TimerUse& use, TimerTable& timers) {
    const auto found = std::find_if(timers.begin(), timers.end(),
                                    [&](const TimerUse& known) { return is_same_use(known, use); });
    if (found != timers.end()) return static_cast<std::size_t>(found - timers.begin());
    timers.push_back(use);
    return timers.size() - 1;
}

TimerUse timer_use(const Row& row, What what) {
    const auto& wanted = what == What::base ? row.base : row.candidate;
    const auto& side = wanted ? wanted : row.base;
    return side ? TimerUse{side->timer, side->timer_settings} : TimerUse{};
}

double control_of(const Row& row, What what) {
    const auto& side = what == What::base ? row.candidate : row.base;
    return side && side->summary ? side->summary->median : 0;
}

Measurement measurement_of(const Row& row, What what, TimerTable& timers) {
    Measurement taken;
    taken.row_index = row.index;
    taken.flags = row.flags;
    taken.winners = row.winners_digest;
    taken.timer = number_of(timer_use(row, what), timers);
    taken.control = control_of(row, what);
    if (row.status != RowStatus::ok) {
        taken.trouble = row.reason.empty() ? std::string(name_of(row.status))
                                           : fmt::format("{}: {}", name_of(row.status), row.reason);
    } else if (what == What::speedup) {
        take_speedup(row, taken);
    } else {
        take_side(what == What::base ? row.base : row.candidate, name_of(what), taken);
    }
    if (taken.trouble.empty() && !(taken.value > 0)) taken.trouble = "invalid: not above zero";
    return taken;
}

// A run cut down on the thread that read it, before it joins its arm.
struct ReducedRun {
    ArmRun run;
    std::vector<std::pair<ArmCase, Measurement>> rows;  // timers count in `timers`
    TimerTable timers;
    std::optional<Json> setup;  // only of a run with a value: one that failed early knows less
    std::vector<std::string> warnings;
};

ReducedRun reduced(const RecordedRun& run, What what) {
    const Json& identity = run.identity;
    ReducedRun result;
    result.run = {run.directory,
                  get_string(identity, "created_utc"),
                  get_string(identity, "caliber_id"),
                  get_string(identity.value("timer", Json::object()), "name"),
                  get_string(identity, "opgauge_version"),
                  run.status.has_value()};
    bool has_value = false;
    for (const auto& row : run.rows) {
        ArmCase work{
            row.case_id, row.work.operator_name, row.work.dtype, shapes_text(row.work), {}};
        Measurement taken = measurement_of(row, what, result.timers);
        has_value = has_value || taken.trouble.empty();
        result.rows.emplace_back(std::move(work), std::move(taken));
    }
    if (has_value) result.setup = setup_facts(identity);
    result.warnings = run.warnings;
    if (!run.status) {
        result.warnings.push_back(
            fmt::format("{} is incomplete: it has no status.json", run.directory.string()));
    }
    return result;
}

ArmCase& case_for(Arm& arm, ArmCase work, int occurrence) {
    const auto [place, fresh] =
        arm.by_key.try_emplace(fmt::format("{}#{}", work.case_id, occurrence), arm.cases.size());
    if (fresh) arm.cases.push_back(std::move(work));
    return arm.cases[place->second];
}

void add_run(Arm& arm, ReducedRun run, TimerTable& timers) {
    arm.runs.push_back(std::move(run.run));
    std::vector<std::size_t> numbers;
    for (const auto& use : run.timers) numbers.push_back(number_of(use, timers));
    std::unordered_map<std::string, int> met;
    for (auto& [work, taken] : run.rows) {
        // The same work twice in one run: the first joins the first, the second the second.
        const int occurrence = ++met[work.case_id];
        taken.run = arm.runs.size() - 1;
        taken.timer = numbers[taken.timer];
        case_for(arm, std::move(work), occurrence).measurements.push_back(std::move(taken));
    }
    for (auto& warning : run.warnings) arm.warnings.push_back(std::move(warning));
    if (!run.setup) return;
    if (std::find(arm.setups.begin(), arm.setups.end(), *run.setup) != arm.setups.end()) return;
    arm.setups.push_back(std::move(*run.setup));
    arm.setup_runs.push_back(arm.runs.size() - 1);
}

using Reduced = std::vector<Result<ReducedRun>>;

// Every `step`-th folder from `first` on.
Reduced read_some(const std::vector<std::filesystem::path>& directories, What what,
                  std::size_t first, std::size_t step) {
    Reduced runs;
    for (std::size_t i = first; i < directories.size(); i += step) {
        runs.push_back(read_run(directories[i]).map([&](const RecordedRun& run) {
            return reduced(run, what);
        }));
    }
    return runs;
}

// A batch holds tens of megabytes of JSON, and parsing them is nearly all that a comparison does.
std::vector<Reduced> read_in_parallel(const std::vector<std::filesystem::path>& directories,
                                      What what) {
    const auto cores = static_cast<std::size_t>(usable_cores().value_or(1));
    const std::size_t step = std::min({cores, kMostReaders, directories.size()});
    std::vector<std::future<Reduced>> parts;
    for (std::size_t first = 1; first < step; ++first) {
        parts.push_back(
            std::async(std::launch::async, read_some, std::cref(directories), what, first, step));
    }
    std::vector<Reduced> runs;
    runs.push_back(read_some(directories, what, 0, step));
    for (auto& part : parts) runs.push_back(part.get());
    return runs;
}

}  // namespace

std::string_view name_of(What what) {
    switch (what) {
        case What::candidate:
            return "candidate";
        case What::base:
            return "base";
        case What::speedup:
            return "speedup";
    }
    return "candidate";
}

std::optional<What> what_named(std::string_view name) {
    for (const What what : {What::candidate, What::base, What::speedup}) {
        if (name_of(what) == name) return what;
    }
    return std::nullopt;
}

Result<std::vector<std::filesystem::path>> find_runs(std::span<const std::string> paths) {
    std::vector<std::filesystem::path> runs;
    for (const auto& path : paths) {
        std::error_code error;
        if (!std::filesystem::is_directory(path, error)) {
            return fail(ErrorKind::usage, fmt::format("{} is not a folder", path));
        }
        const std::size_t before = runs.size();
        collect_runs(path, kRunFolderDepth, runs);
        if (runs.size() == before) {
            return fail(ErrorKind::usage,
                        fmt::format("{} is no run folder and holds none: no {} was found in it or "
                                    "{} levels below",
                                    path, RunFiles::kIdentity, kRunFolderDepth));
        }
    }
    std::set<std::filesystem::path> seen;
    for (const auto& run : runs) {
        std::error_code error;
        if (!seen.insert(std::filesystem::canonical(run, error)).second) {
            return fail(ErrorKind::usage,
                        fmt::format("{} is named twice; a run counts once", run.string()));
        }
    }
    return runs;
}

Result<Arm> read_arm(std::string name, std::span<const std::string> paths, What what,
                     TimerTable& timers) {
    OPGAUGE_TRY_ASSIGN(const auto directories, find_runs(paths));
    Arm arm;
    arm.name = std::move(name);
    arm.paths.assign(paths.begin(), paths.end());
    std::vector<Reduced> parts = read_in_parallel(directories, what);
    for (std::size_t i = 0; i < directories.size(); ++i) {
        OPGAUGE_TRY_ASSIGN(ReducedRun run, std::move(parts[i % parts.size()][i / parts.size()]));
        add_run(arm, std::move(run), timers);
    }
    return arm;
}

}  // namespace opgauge
