// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/compare/arm.h"
#include "opgauge/plan/cache.h"
#include "opgauge/record/history.h"
#include "opgauge/report/history_report.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <cstdio>

namespace opgauge::cli {
namespace {

// Of the runs that are asked for, so that a misspelt name does not look like an empty history.
tl::unexpected<Error> no_such_operator(const std::string& name,
                                       const std::vector<IndexedRun>& runs) {
    std::vector<std::string> known;
    for (const auto& run : runs) known.push_back(run.operator_name);
    return fail(ErrorKind::usage, fmt::format("no run of the history has a case of {}{}; `opgauge "
                                              "history` lists the runs",
                                              printable(name), suggestion(name, known)));
}

using Folders = std::vector<std::filesystem::path>;

Result<int> show_trend(const HistoryIndex& index, const HistoryOptions& options,
                       const Folders& folders) {
    OPGAUGE_TRY_ASSIGN(auto all, index.cases(options.operator_name, folders));
    if (all.empty()) {
        OPGAUGE_TRY_ASSIGN(const auto runs, index.runs(folders));
        return no_such_operator(options.operator_name, runs);
    }
    const std::size_t count = all.size();
    const auto cases = within_one_caliber(std::move(all), options.caliber);
    if (cases.empty()) {
        return fail(ErrorKind::usage,
                    fmt::format("no case of {} has a caliber that begins with {}; leave --caliber "
                                "out to see the newest",
                                printable(options.operator_name), printable(options.caliber)));
    }
    fmt::print("{}", options.json ? to_text(trend_json(options.operator_name, cases, count))
                                  : trend_text(options.operator_name, cases, count));
    return ok;
}

}  // namespace

Result<int> history_command(const HistoryOptions& options, const Environment& environment) {
    if (!options.caliber.empty() && options.operator_name.empty()) {
        return fail(ErrorKind::usage,
                    "opgauge history: --caliber belongs to the trend of an "
                    "operator: name one with --operator");
    }
    const std::filesystem::path file = options.index.empty()
                                           ? cache_folder(environment) / "history.db"
                                           : std::filesystem::path(options.index);
    Folders folders;
    if (!options.folders.empty()) {
        OPGAUGE_TRY_ASSIGN(folders, find_runs(options.folders));
    }
    OPGAUGE_TRY_ASSIGN(HistoryIndex index, HistoryIndex::open(file));
    OPGAUGE_TRY_ASSIGN(const HistoryUpdate update, index.update(folders));
    for (const auto& warning : update.warnings) {
        fmt::print(stderr, "opgauge: not in the history: {}\n", printable(warning));
    }
    if (!options.operator_name.empty()) return show_trend(index, options, folders);
    OPGAUGE_TRY_ASSIGN(const auto runs, index.runs(folders));
    fmt::print("{}", options.json ? to_text(history_json(runs)) : history_text(runs));
    return ok;
}

}  // namespace opgauge::cli
