// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/tuning/flaggems_database.h"
#include "opgauge/tuning/merge.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/tune_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace opgauge::cli {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::chrono::milliseconds wait_of(const TuneOptions& options) {
    return std::chrono::seconds(options.wait_s);
}

Result<void> want_paths(const TuneOptions& options, std::size_t count, std::string_view what) {
    if (options.paths.size() == count) return {};
    return fail(ErrorKind::usage, fmt::format("opgauge tune {} takes {}, not {} paths",
                                              options.action, what, options.paths.size()));
}

Result<void> want_into(const TuneOptions& options) {
    if (!options.into.empty()) return {};
    return fail(ErrorKind::usage, fmt::format("opgauge tune {} writes a store: say which with "
                                              "--into TARGET",
                                              options.action));
}

Result<Facts> facts_of(const TuneOptions& options) {
    Facts facts;
    Scope checked;
    for (const auto& fact : options.scope) {
        const auto equals = fact.find('=');
        if (equals == std::string::npos) {
            return fail(ErrorKind::usage,
                        fmt::format("--scope '{}' is not FACT=VALUE", printable(fact)));
        }
        facts.emplace_back(fact.substr(0, equals), fact.substr(equals + 1));
        OPGAUGE_TRY(set_fact(checked, facts.back().first, facts.back().second));
    }
    return facts;
}

// A misspelt name would look like a store without winners.
Result<void> check_kernel(const TuneOptions& options, TuningStore& store,
                          const std::vector<Winner>& found) {
    if (options.kernel.empty() || !found.empty()) return {};
    OPGAUGE_TRY_ASSIGN(const auto all, store.winners());
    std::set<std::string> names;
    for (const auto& winner : all) names.insert(printable(winner.key.kernel));
    const std::vector<std::string> kernels(names.begin(), names.end());
    return fail(ErrorKind::usage,
                fmt::format("{} has no winner of kernel '{}'; it has {}", store.path().string(),
                            printable(options.kernel),
                            kernels.empty() ? std::string("none at all") : join(kernels, ", ")));
}

Result<int> list_or_show(const TuneOptions& options) {
    Json all = Json::array();
    for (const auto& path : options.paths) {
        OPGAUGE_TRY_ASSIGN(auto store,
                           TuningStore::open(path, DatabaseAccess::read, wait_of(options)));
        OPGAUGE_TRY_ASSIGN(const auto winners, store.winners(options.kernel));
        OPGAUGE_TRY(check_kernel(options, store, winners));
        OPGAUGE_TRY_ASSIGN(const auto size, store.size());
        const bool show = options.action == "show";
        std::vector<Timing> timings;
        if (show) {
            OPGAUGE_TRY_ASSIGN(timings, store.timings(options.kernel));
        }
        Json one = {{"store", store.path().string()},
                    {"winners_digest", winners_digest(winners)},
                    {"winners", Json::array()}};
        for (const auto& winner : winners) one["winners"].push_back(tuned_json(winner));
        for (const auto& timing : timings) one["timings"].push_back(tuned_json(timing));
        all.push_back(one);
        if (options.json) continue;
        fmt::print("{}: {} winners, {} timings, winners digest {}\n{}{}", store.path().string(),
                   size.winners, size.timings, winners_digest(winners).substr(0, 16),
                   tuned_text(winners), tuned_text(timings));
    }
    const Json facts = {{"stores", all}};
    if (options.json) fmt::print("{}", to_text(facts));
    return ok;
}

using Side = std::pair<const Winner*, const Winner*>;

Result<int> diff(const TuneOptions& options) {
    OPGAUGE_TRY(want_paths(options, 2, "two stores"));
    std::vector<std::vector<Winner>> winners;
    for (const auto& path : options.paths) {
        OPGAUGE_TRY_ASSIGN(auto store,
                           TuningStore::open(path, DatabaseAccess::read, wait_of(options)));
        OPGAUGE_TRY_ASSIGN(auto all, store.winners(options.kernel));
        winners.push_back(std::move(all));
    }
    std::map<std::pair<std::string, std::string>, Side> keys;
    for (const auto& winner : winners[0]) {
        keys[{winner.key.kernel, lookup_text(winner.key.key)}].first = &winner;
    }
    for (const auto& winner : winners[1]) {
        keys[{winner.key.kernel, lookup_text(winner.key.key)}].second = &winner;
    }
    Json differing = Json::array();
    std::string text;
    const auto shown = [](const Winner* winner) {
        return winner == nullptr
                   ? std::string("not there")
                   : config_text(winner->config) + "  " + milliseconds(winner->times.p50);
    };
    for (const auto& [key, side] : keys) {
        if (side.first != nullptr && side.second != nullptr &&
            config_id(side.first->config) == config_id(side.second->config)) {
            continue;
        }
        differing.push_back(
            {{"kernel", key.first},
             {"key", key.second},
             {"a", side.first == nullptr ? Json(nullptr) : tuned_json(*side.first)},
             {"b", side.second == nullptr ? Json(nullptr) : tuned_json(*side.second)}});
        text += fmt::format("{} at {}\n  A  {}\n  B  {}\n", printable(key.first),
                            printable(key.second), shown(side.first), shown(side.second));
    }
    text += fmt::format("{} keys, {} differ\n", keys.size(), differing.size());
    const Json facts = {{"keys", keys.size()}, {"differ", differing}};
    fmt::print("{}", options.json ? to_text(facts) : text);
    return differing.empty() ? ok : failed;
}

Result<int> print_merge(const TuneOptions& options, const MergeReport& report) {
    fmt::print("{}", options.json ? to_text(merge_json(report)) : merge_text(report));
    return ok;
}

Result<int> merge(const TuneOptions& options) {
    OPGAUGE_TRY(want_into(options));
    std::vector<MergeSource> sources;
    for (const auto& path : options.paths) sources.push_back({path, ""});
    OPGAUGE_TRY_ASSIGN(const auto report, merge_stores(options.into, sources, wait_of(options)));
    return print_merge(options, report);
}

Result<int> import_file(const TuneOptions& options) {
    OPGAUGE_TRY(want_paths(options, 1, "one file"));
    OPGAUGE_TRY(want_into(options));
    OPGAUGE_TRY_ASSIGN(const Facts facts, facts_of(options));
    ImportOptions import_options;
    for (const auto& [name, value] : facts) {
        OPGAUGE_TRY(set_fact(import_options.scope, name, value));
    }
    for (const auto known : {Conditions::noisy, Conditions::unknown, Conditions::quiet_serial}) {
        if (name_of(known) == options.conditions) import_options.conditions = known;
    }
    OPGAUGE_TRY_ASSIGN(const auto report,
                       import_flaggems(options.paths[0], options.into, import_options));
    return print_merge(options, report);
}

Result<int> export_store(const TuneOptions& options) {
    OPGAUGE_TRY(want_paths(options, 2, "a store and the file to write"));
    OPGAUGE_TRY_ASSIGN(const Facts facts, facts_of(options));
    OPGAUGE_TRY_ASSIGN(auto store,
                       TuningStore::open(options.paths[0], DatabaseAccess::read, wait_of(options)));
    OPGAUGE_TRY_ASSIGN(const auto report, export_flaggems(store, options.paths[1], facts));
    const Json json = {{"file", options.paths[1]},
                       {"tables", report.tables},
                       {"winners", report.winners},
                       {"timings", report.timings},
                       {"left_out", report.left_out}};
    const std::string text = fmt::format(
        "{}: {} tables, {} winners, {} timings; {} rows left out, their tuner has no table there\n",
        options.paths[1], report.tables, report.winners, report.timings, report.left_out);
    fmt::print("{}", options.json ? to_text(json) : text);
    return ok;
}

}  // namespace

Result<int> tune_command(const TuneOptions& options) {
    if (options.action == "diff") return diff(options);
    if (options.action == "merge") return merge(options);
    if (options.action == "import") return import_file(options);
    if (options.action == "export") return export_store(options);
    return list_or_show(options);
}

}  // namespace opgauge::cli
