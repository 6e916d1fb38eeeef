// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opgauge {

// One CSV line (RFC 4180) with its newline. Cells with a comma, quote or line break are quoted; a
// cell that a spreadsheet would run as a formula (= + - @ at its start, unless it is a number) gets
// a leading apostrophe.
std::string csv_line(std::span<const std::string> cells);
std::string csv_cell(std::string_view text);

}  // namespace opgauge
