// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace opgauge {

bool is_smart_terminal(std::FILE* stream) {
    if (::isatty(::fileno(stream)) == 0) return false;
    const char* term = std::getenv("TERM");
    return term != nullptr && std::string_view(term) != "dumb";
}

int terminal_width(std::FILE* stream) {
    winsize size{};
    if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}  // namespace opgauge
