// SPDX-License-Identifier: Apache-2.0
// Sends two rows and dies of SIGSEGV; "core" keeps the caller's core limit, else there is no core.
#include "tests/children/child.h"

#include <sys/resource.h>

#include <csignal>

int main(int argc, char** argv) {
    if (child::argument(argc, argv, 1) != "core") {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
    }
    child::send_row(1);
    child::send_row(2);
    ::raise(SIGSEGV);
}
