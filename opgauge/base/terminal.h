// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace opgauge {

// True for a terminal that can redraw a line (not TERM=dumb).
bool is_smart_terminal(std::FILE* stream);

// Columns of the terminal behind the stream; 80 where it does not say.
int terminal_width(std::FILE* stream);

}  // namespace opgauge
