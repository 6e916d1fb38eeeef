// SPDX-License-Identifier: Apache-2.0
// Tells what it was born with: group, blocked and ignored signals, open files, arguments.
#include "tests/children/child.h"

#include <fcntl.h>

#include <csignal>
#include <string>

namespace {

std::string open_fds() {
    std::string list;
    for (int fd = 0; fd < 1024; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) list += (list.empty() ? "" : ",") + std::to_string(fd);
    }
    return list;
}

int blocked_signals() {
    sigset_t mask;
    ::sigprocmask(SIG_BLOCK, nullptr, &mask);
    int count = 0;
    for (int number = 1; number < NSIG; ++number) count += ::sigismember(&mask, number) == 1;
    return count;
}

int not_default_signals() {
    int count = 0;
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) != 0) continue;
        if (action.sa_handler != SIG_DFL) ++count;
    }
    return count;
}

}  // namespace

// On stdout as JSON, and on the channel where there is one.
int main() {
    const std::string members = ",\"pid\":" + std::to_string(::getpid()) +
                                ",\"group\":" + std::to_string(::getpgrp()) +
                                ",\"blocked\":" + std::to_string(blocked_signals()) +
                                ",\"not_default\":" + std::to_string(not_default_signals()) +
                                ",\"fds\":[" + open_fds() + "]";
    const std::string text = "{\"seq\":0" + members + "}\n";
    if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) return 1;
    if (child::channel() >= 0) child::send("event", members);
}
