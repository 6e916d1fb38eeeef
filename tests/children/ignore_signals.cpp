// SPDX-License-Identifier: Apache-2.0
// Ignores SIGINT; with "all" SIGTERM too. Then it sleeps for ever.
#include "tests/children/child.h"

#include <csignal>

int main(int argc, char** argv) {
    std::signal(SIGINT, SIG_IGN);
    if (child::argument(argc, argv, 1) == "all") std::signal(SIGTERM, SIG_IGN);
    child::send_row(1);
    child::sleep_for_ever();
}
