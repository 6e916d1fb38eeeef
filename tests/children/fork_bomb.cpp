// SPDX-License-Identifier: Apache-2.0
// Leaves 20 processes: half of them in its group, half in sessions of their own. None obeys.
#include "tests/children/child.h"

#include <csignal>

int main() {
    for (int i = 0; i < 20; ++i) {
        int ready[2];
        if (::pipe(ready) != 0) return 1;
        const pid_t grandchild = ::fork();
        if (grandchild == 0) {
            std::signal(SIGINT, SIG_IGN);
            std::signal(SIGTERM, SIG_IGN);
            if (i % 2 == 1) ::setsid();
            if (::write(ready[1], "x", 1) != 1) return 1;
            child::sleep_for_ever();
        }
        char byte = 0;
        if (::read(ready[0], &byte, 1) != 1) return 1;
        child::send_pid(grandchild);
    }
    return 7;
}
