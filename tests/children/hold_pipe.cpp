// SPDX-License-Identifier: Apache-2.0
// Ends well but leaves a grandchild that holds the channel and the log open for ever.
// "leave_group": the grandchild goes to its own session, where no signal to the group finds it.
#include "tests/children/child.h"

#include <csignal>

int main(int argc, char** argv) {
    const bool leaves = child::argument(argc, argv, 1) == "leave_group";
    int ready[2];
    if (::pipe(ready) != 0) return 1;
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
        std::signal(SIGINT, SIG_IGN);
        std::signal(SIGTERM, SIG_IGN);
        if (leaves) ::setsid();
        const ssize_t told = ::write(ready[1], "x", 1);
        if (told != 1) return 1;
        child::sleep_for_ever();
    }
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) return 1;
    child::send_pid(grandchild);
    child::send("bye", ",\"exit\":0");
}
