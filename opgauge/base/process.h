// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// How to start a process. It leads its own process group, dies with the thread that started it
// (PR_SET_PDEATHSIG, SIGKILL), has default signal dispositions and an empty signal mask.
struct SpawnOptions {
    std::vector<std::string> argv;         // argv[0] is looked up on the PATH of `environment`
    std::vector<std::string> environment;  // "NAME=value"
    std::string working_directory;         // empty: the caller's
    int stdout_fd = -1;                    // -1: /dev/null
    int stderr_fd = -1;                    // -1: /dev/null
    std::vector<int> kept_fds;             // stay open in the child under the same numbers
};

// Called once at the start of main(): opens /dev/null for each of stdin, stdout and stderr that the
// caller had closed, or a run's files would get these numbers and opgauge's messages would land in
// them.
void open_missing_standard_fds();

struct SpawnedProcess {
    pid_t pid = -1;
    int pidfd = -1;  // the caller closes it
};

// A failed exec is an error of the start ("no such program"), told through a close-on-exec pipe;
// it is never an exit code 127. Errors are of kind environment.
Result<SpawnedProcess> spawn(const SpawnOptions& options);

// Whether `pid` is `ancestor` or descends from it, as /proc tells now.
bool is_descendant(long long pid, long long ancestor);

}  // namespace opgauge
