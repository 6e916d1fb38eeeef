// SPDX-License-Identifier: Apache-2.0
// Sends as many rows as it is told, or rows without end.
#include "tests/children/child.h"

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 0;
    for (int i = 1; count == 0 || i <= count; ++i) child::send_row(i);
}
