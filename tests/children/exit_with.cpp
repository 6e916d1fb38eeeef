// SPDX-License-Identifier: Apache-2.0
// Sends a row and ends with the exit code that it is given, without `bye`.
#include "tests/children/child.h"

int main(int argc, char** argv) {
    child::send_row(1);
    return argc > 1 ? std::atoi(argv[1]) : 0;
}
