// SPDX-License-Identifier: Apache-2.0
// Closes stdin, stdout and stderr and goes on well.
#include "tests/children/child.h"

int main() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
    child::send_row(1);
    child::send("bye", ",\"exit\":0");
}
