// SPDX-License-Identifier: Apache-2.0
// Sends a row and then one line of up to a gigabyte.
#include "tests/children/child.h"

#include <string>

int main() {
    child::send_row(1);
    const std::string block(std::size_t{1} << 16U, 'x');
    for (int i = 0; i < (1 << 14); ++i) child::send_raw(block);
}
