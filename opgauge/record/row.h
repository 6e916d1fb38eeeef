// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/corpus/case.h"
#include "opgauge/measure/samples.h"
#include "opgauge/measure/statistics.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

constexpr int kRowSchemaVersion = 1;

// One side of a row: the summary of its valid samples and how they were taken.
struct SideResult {
    std::string timer;
    Json timer_settings = Json::object();
    int calls_per_sample = 1;
    std::optional<Summary> summary;  // nanoseconds; absent where no sample was valid
    std::string stopped_by;          // "precision", "max_time", "complete", ...
    std::optional<double> first_call_ns;
    std::vector<std::string> invalid_samples;  // reasons, at most a few
    std::size_t invalid_count = 0;
    bool no_device_work = false;
    std::optional<double> sm_clock_mhz;         // median over its bursts
    std::optional<double> temperature_celsius;  // the highest
    int dropped_bursts = 0;
};

enum class RowStatus {
    ok,       // both sides (or the only side of a one-sided corpus) have valid times
    failed,   // the case raised an error
    invalid,  // it ran, but its samples are no times (zero, negative, not finite)
    skipped,  // left out, with a reason
};
std::string_view name_of(RowStatus status);

// One case's result.
struct Row {
    int index = 0;  // counts from 1 over the run
    Case work;
    std::string case_id;
    std::string caliber_id;
    std::string winners_digest;  // of the tuned configurations that it used; empty: none
    RowStatus status = RowStatus::failed;
    std::optional<SideResult> base;
    std::optional<SideResult> candidate;
    std::string reason;              // why not ok, or why there is no speed-up
    std::string fallback;            // why its timer is not the run's; empty: it is
    std::string fallback_detail;     // the side and the device's words
    std::vector<std::string> flags;  // how far it can be trusted: docs/exit_codes.md
    Json error = nullptr;            // {"kind", "message"} as the child told
    Json check = nullptr;
    Json work_amount = nullptr;  // {"bytes", "flops"}
    double seconds = 0;          // wall time of the case
    double waited_s = 0;         // of these, for others of the host that measured

    // Base median over candidate median: only for an ok row whose two sides have the same timer.
    std::optional<double> speedup() const;
    // The worse of the sides' relative precisions; nullopt where one is unknown.
    std::optional<double> precision() const;
};

// The result of finished samples: invalid ones are already left out of `values_ns`.
SideResult make_side_result(const SideSamples& samples, std::string stopped_by);

// Status and reason from what the sides have; a row that failed stays failed.
void judge(Row& row);

Json to_json(const Row& row);
// Kind failed: unknown schema version, or a member is missing.
Result<Row> row_from_json(const Json& value);

}  // namespace opgauge
