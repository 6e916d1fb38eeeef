// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/selection.h"
#include "opgauge/batch/slurm_client.h"
#include "opgauge/plan/plan.h"
#include "opgauge/session/run_session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace opgauge::cli {

// One struct per command; the flag tables are in options.cpp.
struct DevicesOptions {
    std::string backend;
    bool json = false;
};

struct PlanCommandOptions {
    PlanOptions plan;
    bool json = false;
};

struct CorpusOptions {
    std::string action;  // list | show
    PlanOptions plan;
    bool json = false;
};

struct RunCommandOptions {
    PlanOptions plan;
    RunOptions run;
    std::string root;
    std::string run_dir;
    std::string resume;
    int timeout_s = 0;
    int stall_s = 120;
    bool no_check = false;
    bool json = false;
};

struct BatchCommandOptions {
    std::string action;  // empty: run it; status
    std::string status_of;
    bool where = false;  // its status says where the time went
    SelectionRequest selection;
    RunCommandOptions run;                 // what each lane's runs share
    std::vector<std::string> run_options;  // the same, as given
    std::vector<std::string> argv;
    std::string resume;
    int wait_lease_s = 0;
    int lane_silence_s = 3'600;
    int lanes_per_device = 0;  // 0: not given
    bool no_fork_server = false;
    bool no_quarantine = false;
    bool quarantine = false;  // only list it
    bool json = false;
    // --executor slurm (docs/slurm.md)
    std::string executor = "local";
    SlurmOptions slurm;
    double chunk_minutes = 15;
    int most_tasks = 1'000;
    int task_retries = 1;
    double poll_s = 10;
    int record_wait_s = 30;
    int pending_limit_s = 86'400;
    std::string times_from;
};

struct BatchTaskOptions {
    std::string folder;
};

// A lane takes the options of `run` that do not name an operator or a folder.
struct BatchLaneOptions {
    RunCommandOptions run;
    int lanes_per_device = 1;
    bool no_fork_server = false;
    bool no_quarantine = false;
    int channel_fd = -1;
};

struct ShowOptions {
    std::string run_dir;
    int case_index = 0;  // 0: the whole table
    bool json = false;
};

struct CompareCommandOptions {
    std::vector<std::string> runs;  // A and B
    std::vector<std::string> a;     // or each as several run folders
    std::vector<std::string> b;
    std::string what = "candidate";
    std::vector<std::string> factors;
    std::string fdr = "0.01";
    std::string at_least = "1%";
    std::string process_noise = "1%";
    std::vector<std::string> fail_on;
    bool cross_caliber = false;
    bool json = false;
};

struct AbCommandOptions {
    std::vector<std::string> operators;
    std::vector<std::string> a;  // KEY=VALUE
    std::vector<std::string> b;
    std::string corpus_a;
    std::string corpus_b;
    std::string revision_a;
    std::string revision_b;
    int replicates = 10;
    std::optional<std::uint64_t> seed;
    bool no_early_stop = false;
    bool no_fork_server = false;
    RunCommandOptions run;  // what each replicate's run shares
    CompareCommandOptions compare;
};

struct ReportOptions {
    std::string path;    // run, batch or comparison
    std::string format;  // empty: by the output's name
    std::string output;  // empty: standard output
};

struct VerifyOptions {
    std::string run_dir;
    std::string devices;  // empty: the recorded one
    std::string root;
    std::string at_least = "1%";
    std::string process_noise = "1%";
    bool digests_only = false;
    bool json = false;
    std::vector<std::string> argv;
};

struct HistoryOptions {
    std::vector<std::string> folders;
    std::string index;  // empty: in the cache folder
    std::string operator_name;
    std::string caliber;
    bool json = false;
};

struct DoctorOptions {
    PlanOptions plan;
    std::string parse;    // file with a vendor tool's output; empty: look at this machine
    std::string command;  // what printed it
    bool timers = false;  // check the timers instead
    bool again = false;   // also where a record is kept
    bool json = false;
};

struct TuneOptions {
    std::string action;              // list | show | diff | merge | import | export
    std::vector<std::string> paths;  // what each is depends on the action
    std::string kernel;
    std::string into;
    std::string to = "flaggems";
    std::vector<std::string> scope;  // FACT=VALUE
    std::string conditions = "unknown";
    int wait_s = 60;
    bool json = false;
};

struct WarmShardOptions {
    std::string job;
    int channel_fd = -1;
};

struct Options {
    DevicesOptions devices;
    PlanCommandOptions plan;
    CorpusOptions corpus;
    RunCommandOptions run;
    BatchCommandOptions batch;
    ShowOptions show;
    CompareCommandOptions compare;
    AbCommandOptions ab;
    ReportOptions report;
    VerifyOptions verify;
    HistoryOptions history;
    DoctorOptions doctor;
    TuneOptions tune;
    WarmShardOptions warm_shard;
    BatchLaneOptions batch_lane;
    BatchTaskOptions batch_task;
};

// Adds every subcommand and its flags to `app`, bound to `options`.
void add_commands(CLI::App& app, Options& options);

}  // namespace opgauge::cli
