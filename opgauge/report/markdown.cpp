// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/markdown.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace opgauge {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Letters, digits and marks that no page acts on, none of which begins it; an underscore or dot
// only inside a word, a colon only behind one.
bool is_plain(std::string_view text) {
    if (!is_word(text.front())) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_word(c) || std::string_view(" ,;%/()+-=").find(c) != std::string_view::npos)
            continue;
        if (c == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) continue;
        const bool inside =
            i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
        if ((c != '_' && c != '.') || !inside) return false;
    }
    // "www.host.org" becomes a link, "1. x" a list.
    return text.find("www.") == std::string_view::npos;
}

std::string entities(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool is_mark =
            std::string_view("&<>\"'|\\`*_[]~@#:!{}$").find(c) != std::string_view::npos;
        if (is_mark) {
            result += fmt::format("&#{};", static_cast<int>(static_cast<unsigned char>(c)));
        } else {
            result.push_back(c);
        }
    }
    return result;
}

std::string line_of(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const auto& cell : cells) line += " " + cell + " |";
    return line + "\n";
}

std::string head_of(const ReportTable& table) {
    std::vector<std::string> titles;
    std::vector<std::string> rules;
    for (const auto& column : table.columns) {
        titles.push_back(column.title);
        rules.emplace_back(column.align == Align::right ? "---:" : "---");
    }
    return line_of(titles) + line_of(rules);
}

}  // namespace

std::string markdown_text(std::string_view text, std::size_t limit) {
    const std::string shown = printable(text, limit);
    if (shown.empty() || shown == "-" || is_plain(shown)) return shown;
    return "<code>" + entities(shown) + "</code>";
}

std::string markdown_table(const ReportTable& table, std::size_t limit) {
    std::string text = head_of(table);
    std::size_t shown = 0;
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (const auto& cell : row) cells.push_back(markdown_text(cell));
        std::string line = line_of(cells);
        if (text.size() + line.size() > limit) break;
        text += line;
        ++shown;
    }
    if (shown < table.rows.size()) {
        text += fmt::format("\n{} of {} rows are shown; `opgauge report --format csv` has all.\n",
                            shown, table.rows.size());
    }
    return text;
}

}  // namespace opgauge
