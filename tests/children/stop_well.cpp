// SPDX-License-Identifier: Apache-2.0
// Obeys SIGINT: sends one more row, says goodbye and ends.
#include "tests/children/child.h"

#include <csignal>

namespace {

volatile std::sig_atomic_t g_stop = 0;

void stop(int) {
    g_stop = 1;
}

}  // namespace

int main() {
    struct sigaction action {};
    action.sa_handler = stop;
    ::sigaction(SIGINT, &action, nullptr);
    sigset_t blocked;
    sigset_t open;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGINT);
    ::sigprocmask(SIG_BLOCK, &blocked, &open);
    child::send_row(1);
    while (g_stop == 0) ::sigsuspend(&open);
    child::send_row(2);
    child::send("bye", ",\"exit\":2");
    return 2;
}
