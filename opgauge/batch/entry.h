// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/time_parts.h"

#include <map>
#include <optional>
#include <string>

namespace opgauge {

// One unit of work of a batch: what `opgauge run` measures in one run. Its name is its own in the
// batch: "mm", "mul@test_mul.py" where the operator is in several files, or a pytest node.
struct BatchEntry {
    std::string name;
    std::string operator_;
    std::string file;     // not empty: narrows the operator to it
    std::string node;     // not empty: taken verbatim
    std::string problem;  // not empty: nothing can be run, and why (status no_tests)
};

struct RowCounts {
    int ok = 0;
    int failed = 0;
    int invalid = 0;
    int skipped = 0;
    int flagged = 0;
};

// What is known of how an entry's run ended. Words of a lane or of a corpus are data.
struct EntryResult {
    std::string status;  // docs/exit_codes.md
    std::string reason;  // one line where not passed
    int exit_code = 0;   // of the run
    std::optional<int> exit;
    std::optional<int> signal;  // of the child
    double seconds = 0;
    std::optional<TimeParts> time;  // of its lane's time; nullopt: unknown, as in older batches
    RowCounts rows;
    std::optional<double> geomean_speedup;
    int geomean_n = 0;
    std::map<std::string, int> markers;
    std::string tuning;
    std::string timer;
    std::string device;
    std::string setup_id;
};

enum class EntryState {
    pending,
    running,
    finished,
    not_run,  // the batch ended before its turn
};

// An entry with all that a batch keeps of it.
struct BatchItem {
    BatchEntry entry;
    EntryState state = EntryState::pending;
    EntryResult result;
    std::string run_dir;               // relative to the batch's folder
    std::string lane;                  // the device that ran it, as the lane was told
    std::optional<double> expected_s;  // from earlier runs; nullopt: unknown
    int attempts = 0;                  // times that it was given to a lane
    bool alone = false;   // it ran out of memory beside others: no other lane may use its device
    bool resume = false;  // its folder has rows of a run that did not end
};

// A result of these words and nothing else.
EntryResult ended_with(std::string status, std::string reason);
// Whether it counts as good for the batch's exit code.
bool is_good(const EntryResult& result);
bool is_finished(const BatchItem& item);

Json to_json(const BatchItem& item);
// Never fails: what is missing or of another type is left empty.
BatchItem item_of(const Json& json);
// Of a lane's message `ended`, of an item or of a run's status.json, that share their names.
EntryResult result_of(const Json& json);

}  // namespace opgauge
