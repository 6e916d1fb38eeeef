// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

namespace opgauge::cli {

// The documented exit codes (docs/exit_codes.md). 128 + signal is added for interrupts.
enum ExitCode : int {
    ok = 0,
    failed = 1,       // an operator failed, or a named verdict fired
    usage = 2,        // the command line or a file that it names is wrong
    refused = 3,      // caliber, scope, replay misses, capability
    environment = 4,  // no device, no corpus, no Python, no place to write
    defect = 70,      // a broken invariant of opgauge itself: please report it
};

inline int exit_code_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage:
            return usage;
        case ErrorKind::refused:
            return refused;
        case ErrorKind::environment:
            return environment;
        case ErrorKind::failed:
            return failed;
    }
    return failed;
}

}  // namespace opgauge::cli
