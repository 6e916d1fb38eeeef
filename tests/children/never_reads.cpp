// SPDX-License-Identifier: Apache-2.0
// Asks and asks and never reads an answer.
#include "tests/children/child.h"

int main() {
    while (true) child::send("samples");
}
