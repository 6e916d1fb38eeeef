// SPDX-License-Identifier: Apache-2.0
// Sends a row and never anything again.
#include "tests/children/child.h"

int main() {
    child::send_row(1);
    child::sleep_for_ever();
}
