// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/executor.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// What Slurm's commands print, read into values. Versions 22.05 to 26.05 differ only where a
// function says so; what cannot be read is left out, never guessed.

// `squeue -O` fields, each followed by '|', in the order that the reader takes.
constexpr const char* kQueueFields = "ArrayTaskID:|,State:|,exit_code:|,Reason:|,NodeList:|";
std::vector<TaskReport> read_queue(std::string_view text);

// `sacct -n -P -X -o` fields. Tasks that never started are one row "13_[8-11]".
constexpr const char* kAccountFields = "JobID,State,ExitCode,NodeList";
std::vector<TaskReport> read_accounts(std::string_view text, std::string_view job_id);

// The state's first word counts: "CANCELLED by 1000".
TaskState task_state(std::string_view word);

struct ExitStatus {
    std::optional<int> exit;
    std::optional<int> signal;
};
// A wait status as a number (22.05: "768"), or "3:0" (23.02 and later, and all of sacct).
ExitStatus read_exit(std::string_view text);

// "1234\n" or "1234;cluster\n", as sbatch --parsable prints it.
std::optional<std::string> read_job_id(std::string_view text);
// The ids that `squeue -o %F` prints, once a record.
std::set<std::string> read_job_ids(std::string_view text);
// MaxArraySize of `scontrol show config`.
std::optional<int> read_array_limit(std::string_view text);

// Task numbers as --array takes them: "0-3,7". And back; "%4" at the end and ":2" steps are read.
std::string array_text(const std::vector<int>& tasks);
std::vector<int> read_array(std::string_view text);

// A share of one gres that a job holds on one node.
struct GresShare {
    std::string node;
    std::string name;  // "gpu", or any other
    std::string type;  // "a100"; empty: none
    int count = 0;
    std::vector<int> indices;  // empty: counted only, without numbers
};
// Of `scontrol -d -o show job`, in the order of the nodes.
std::vector<GresShare> read_shares(std::string_view text);

// Whether a command's error says that the controller did not answer (and may have acted).
bool is_no_answer(std::string_view error);

}  // namespace opgauge
