// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/csv.h"

#include "opgauge/base/text.h"

namespace opgauge {

std::string csv_cell(std::string_view text) {
    std::string cell;
    const bool formula = !text.empty() &&
                         std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos &&
                         !parse_double(text);
    if (formula) cell.push_back('\'');
    cell += text;
    if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string quoted = "\"";
    for (const char c : cell) {
        if (c == '"') quoted.push_back('"');
        quoted.push_back(c);
    }
    quoted.push_back('"');
    return quoted;
}

std::string csv_line(std::span<const std::string> cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line.push_back(',');
        line += csv_cell(cells[i]);
    }
    line.push_back('\n');
    return line;
}

}  // namespace opgauge
