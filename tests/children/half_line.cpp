// SPDX-License-Identifier: Apache-2.0
// Sends a row and half a line; then it exits with 5, or with "killed" kills itself.
#include "tests/children/child.h"

#include <csignal>

int main(int argc, char** argv) {
    child::send_row(1);
    child::send_raw("{\"type\":\"log\",\"seq\":2,\"te");
    if (child::argument(argc, argv, 1) == "killed") ::raise(SIGKILL);
    return 5;
}
