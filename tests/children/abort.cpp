// SPDX-License-Identifier: Apache-2.0
// Sends a row and aborts, as a failed assertion of a vendor's library does.
#include "tests/children/child.h"

#include <sys/resource.h>

int main() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    child::send_row(1);
    std::abort();
}
