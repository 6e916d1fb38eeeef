// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/result_reader.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/report/samples_report.h"
#include "opgauge/report/tuning_report.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge::cli {
namespace {

Json run_json(const RecordedRun& run) {
    Json rows = Json::array();
    for (const auto& row : run.rows) rows.push_back(to_json(row));
    return {{"identity", run.identity},
            {"status", optional_json(run.status)},
            {"rows", rows},
            {"warnings", run.warnings}};
}

Result<int> show_case(const RecordedRun& run, const ShowOptions& options) {
    const auto row = std::find_if(run.rows.begin(), run.rows.end(), [&](const Row& candidate) {
        return candidate.index == options.case_index;
    });
    if (row == run.rows.end()) {
        return fail(ErrorKind::usage,
                    fmt::format("{} has no case {}; it has {} cases", options.run_dir,
                                options.case_index, run.rows.size()));
    }
    OPGAUGE_TRY_ASSIGN(const RecordedSamples samples,
                       read_samples(run.directory, options.case_index));
    fmt::print("{}",
               options.json ? to_text(samples_json(*row, samples)) : samples_text(*row, samples));
    return ok;
}

}  // namespace

Result<int> show_command(const ShowOptions& options) {
    OPGAUGE_TRY_ASSIGN(const RecordedRun run, read_run(options.run_dir));
    if (options.case_index != 0) return show_case(run, options);
    fmt::print("{}", options.json ? to_text(run_json(run)) : latency_text(run) + tuning_text(run));
    return ok;
}

}  // namespace opgauge::cli
