// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/measure/stopping_rule.h"
#include "opgauge/plan/plan.h"
#include "opgauge/run/supervisor.h"
#include "opgauge/session/conversation.h"
#include "opgauge/session/host_locks.h"
#include "opgauge/session/python_probe.h"

#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {

struct RunOptions {
    std::filesystem::path root = "runs";
    std::filesystem::path run_dir;  // not empty: exactly this folder
    StoppingSettings stopping;
    ChildLimits limits;
    bool check_outputs = true;
    bool exclusive = false;      // refuse a device that others use
    bool retry_capture = false;  // try again what is known not to be captured
    bool resume = false;         // go on with what `run_dir` holds
    Quarantine::Use quarantine = Quarantine::Use::note;  // of cases that cost a child
    Measuring measuring = Measuring::exclusive;
    int device_lanes = 1;  // of a batch, on this device; more share it
    // Of a process that makes several runs; null: the interpreter is asked anew.
    PythonProbe* python = nullptr;
    ChildSource* source = nullptr;  // null: each child is a process of its own
    std::vector<std::string> argv;
    std::string tool_version;
    Json same_setup_as = nullptr;  // an identity: where its setup is not met, nothing is started
};

// How a run ended. Everything that was measured is in the run directory whatever the status.
struct RunSummary {
    std::filesystem::path run_dir;
    std::string status;  // docs/exit_codes.md: passed, failed, skipped, no_tests, ...
    std::string reason;  // one line where not passed
    int exit_code = 0;
    std::vector<std::string> warnings;
    std::vector<std::string> tuning;  // what a person must know of it, one line each
    Outcome outcome;                  // of the last child
    Json facts = Json::object();      // content of status.json
    std::string setup_id;
};

// One run: claims the folder, writes the identity, starts and supervises the child, keeps each row
// as it finishes and closes with tables and status. Errors mean that no child was started.
Result<RunSummary> run_plan(const Plan& plan, Provider& provider, const RunOptions& options,
                            const Environment& environment, const Clock& clock,
                            RunObserver& observer);

}  // namespace opgauge
