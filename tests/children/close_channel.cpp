// SPDX-License-Identifier: Apache-2.0
// Closes its channel and goes on running; with "bye" it says goodbye first and ends well 1.2 s
// later.
#include "tests/children/child.h"

int main(int argc, char** argv) {
    child::send_row(1);
    const bool polite = child::argument(argc, argv, 1) == "bye";
    if (polite) child::send("bye", ",\"exit\":4");
    ::close(child::channel());
    if (!polite) child::sleep_for_ever();
    ::usleep(1'200'000);
    return 4;
}
