// SPDX-License-Identifier: Apache-2.0
// Writes 32 MiB to stdout and to stderr, then says so and ends well.
#include "tests/children/child.h"

#include <string>

int main() {
    const std::string block(std::size_t{1} << 20U, 'x');
    for (int i = 0; i < 32; ++i) {
        if (::write(STDOUT_FILENO, block.data(), block.size()) < 0) return 1;
        if (::write(STDERR_FILENO, block.data(), block.size()) < 0) return 1;
    }
    child::send("bye", ",\"exit\":0");
}
