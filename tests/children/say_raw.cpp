// SPDX-License-Identifier: Apache-2.0
// Sends a row, then each argument as a line as it is, then sleeps for ever.
#include "tests/children/child.h"

int main(int argc, char** argv) {
    child::send_row(1);
    for (int i = 1; i < argc; ++i) child::send_raw(std::string(argv[i]) + "\n");
    child::sleep_for_ever();
}
