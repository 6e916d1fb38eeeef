// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/corpus/provider.h"
#include "opgauge/device/backends.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgauge {

// A decision with the option, variable or capability that made it.
struct Decision {
    std::string value;
    std::string why;
};

// What is asked for about tuned configurations.
struct TuningOptions {
    std::string mode;                       // --tune; empty: by the source and the corpus
    std::string from;                       // --from; empty: REPLAY_FROM
    bool allow_misses = false;              // --allow-misses
    std::vector<std::string> accept_scope;  // --accept-scope
    int compile_jobs = 0;                   // --compile-jobs; 0: not given
    bool no_overlap = false;                // --no-overlap
    std::string timing;                     // --tune-timing; empty: OPGAUGE_TUNE_TIMING
};

// What is asked for about tuning on several devices before the run.
struct WarmupOptions {
    std::string devices;   // --warmup-devices; empty: PARALLEL_WARMUP_GPUS
    bool share = false;    // --share-devices
    bool confirm = false;  // --confirm
    std::string overlap;   // --overlap-keys; empty: 5 %
};

// What the command line and the environment ask for, before anything is looked up.
struct PlanOptions {
    std::string corpus;  // --corpus; empty: OPGAUGE_CORPUS, then native
    NodeRequest request;
    std::string backend;  // --backend
    std::string devices;  // --devices / --gpus
    std::string timer;    // --timer
    std::string l2;       // --l2
    std::string heat;     // --heat
    TuningOptions tuning;
    WarmupOptions warmup;
    std::string shapes;  // --shapes FILE
    std::string level;   // --level
    std::vector<std::string> dtypes;
    std::string python;  // --python; empty: OPGAUGE_PYTHON, then python3
    int warmup_ms = 0;
    int iteration_ms = 0;
};

struct PlannedVariable {
    std::string name;
    std::optional<std::string> value;  // nullopt: removed
    std::string why;
};

// Where a replay takes its winners from and what it forgives.
struct ReplayPlan {
    Decision source;      // a run folder or a tuning.db, as given; empty: nothing is replayed
    std::string warning;  // what its reader must know: it is incomplete
    bool allow_misses = false;
    std::set<std::string> accepted;  // facts of the winners' scope that may differ
};

// How the configurations of a key are compiled before they are timed.
struct CompilePlan {
    int jobs = 1;         // forked children; 1: one after the other, by the tuner itself
    bool overlap = true;  // whether one is timed while others compile
    std::string why;
};

// How a key's configurations are timed against each other (docs/tune_timing.md).
struct TuneTimingPlan {
    std::string value = "full";  // or "race"
    std::string why;
    std::string warning;  // a race was asked for and cannot be; empty: none
};

// How many cases are tuned by two shards, to see how far they agree.
struct WarmupOverlap {
    double share = 0;  // of all cases, and at least one where it is more than 0
    std::optional<int> count;
};

// Tuning on several devices before the serial run.
struct WarmupPlan {
    std::vector<SelectedDevice> shards;  // one for each, in order; empty: no warm-up
    std::string why;                     // empty: nobody asked
    bool shared = false;                 // some shards share a device
    bool confirm = false;                // disputed keys are tuned again, serially
    WarmupOverlap overlap;
};

// Everything that will happen, as a value. Making one starts no child and touches no device beyond
// asking what is there.
struct Plan {
    std::string corpus_name;  // "flaggems", "native"
    std::string corpus_root;
    Decision backend;
    SelectedDevice device;  // the measuring device
    std::string device_why;
    Discovery discovery;
    std::vector<CorpusNode> nodes;
    std::string nodes_why;
    std::vector<PlannedVariable> environment;
    std::vector<Decision> plugins;     // -p, in order
    std::vector<Decision> no_plugins;  // plugins left out, and why
    Decision timer;
    Json timer_settings = Json::object();
    std::string fallback_timer;  // of cases whose graph cannot be captured; empty: none
    std::string heat;            // "burst" or "sustained"
    Decision tune;               // value: "record", "replay" or "off"
    ReplayPlan replay;
    CompilePlan compile;
    TuneTimingPlan tune_timing;
    WarmupPlan warmup;
    Decision shapes;             // value: "upstream", "compact" or the file
    std::string shapes_file;     // absolute; empty: the corpus's own
    std::string shapes_content;  // written to shapes_file before the run; empty: it is there
    std::optional<std::string> shapes_digest;
    CorpusSettings settings;
    CorpusCommand command;
    std::map<std::string, std::string>
        capabilities;  // name -> "yes" or why not (or why it is unknown)
};

Json to_json(const Plan& plan);
// For a person: one decision a line with its reason.
std::string to_text(const Plan& plan);

}  // namespace opgauge
