// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/record/result_reader.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace opgauge {

// Which number of a row is compared.
enum class What { candidate, base, speedup };
std::string_view name_of(What what);
std::optional<What> what_named(std::string_view name);

// A timer and its settings, as rows used it. Both arms share one table, so that equal uses have
// equal numbers.
struct TimerUse {
    std::string name;
    Json settings;
};
using TimerTable = std::vector<TimerUse>;

// One row of one run, cut down to what a comparison needs: a batch has many thousands.
struct Measurement {
    std::size_t run = 0;  // in Arm::runs
    int row_index = 0;
    std::string trouble;  // why there is no value: "failed: ...", "skipped: ..."
    std::vector<std::string> flags;
    std::size_t timer = 0;  // in the TimerTable
    std::string winners;
    double value = 0;                                   // nanoseconds, or the speed-up
    std::optional<std::pair<double, double>> interval;  // of the value, within its process
    double quartile_range = 0;  // relative to the value; of the sides' the larger
    double control = 0;         // median of the side that is not compared; 0: not there
};

// One case, with a measurement for each process that met it.
struct ArmCase {
    std::string case_id;
    std::string operator_name;
    std::string dtype;
    std::string shapes;
    std::vector<Measurement> measurements;
};

struct ArmRun {
    std::filesystem::path directory;
    std::string created_utc;
    std::string caliber_id;
    std::string timer;  // the run's own; rows may have fallen back to another
    std::string opgauge_version;
    bool complete = true;
};

// One side of a comparison: a run, or many that are its replicates, its operators, or both.
struct Arm {
    std::string name;  // "A" or "B"
    std::vector<std::string> paths;
    std::vector<ArmRun> runs;
    std::vector<Json> setups;  // setup_facts of the runs with a value, different ones only
    std::vector<std::size_t> setup_runs;                  // for each the first run that has it
    std::vector<ArmCase> cases;                           // in the order in which they were met
    std::unordered_map<std::string, std::size_t> by_key;  // case id and occurrence in its run
    std::vector<std::string> warnings;
};

// Each path is a run folder, or a folder with run folders at most kRunFolderDepth levels below it.
constexpr int kRunFolderDepth = 4;
Result<std::vector<std::filesystem::path>> find_runs(std::span<const std::string> paths);

// Kinds: usage (no run there, one named twice), failed (a broken file).
Result<Arm> read_arm(std::string name, std::span<const std::string> paths, What what,
                     TimerTable& timers);

}  // namespace opgauge
