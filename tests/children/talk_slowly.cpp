// SPDX-License-Identifier: Apache-2.0
// Sends five rows with the pause between them that it is told, in milliseconds.
#include "tests/children/child.h"

int main(int argc, char** argv) {
    const int pause_ms = argc > 1 ? std::atoi(argv[1]) : 100;
    for (int i = 1; i <= 5; ++i) {
        child::send_row(i);
        ::usleep(static_cast<useconds_t>(pause_ms) * 1000);
    }
}
