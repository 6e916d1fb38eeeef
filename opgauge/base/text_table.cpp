// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text_table.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

// Characters of UTF-8 text; continuation bytes take no column.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

void append_cell(std::string& line, std::string_view cell, std::size_t width, Align align) {
    const std::string padding(width - width_of(cell), ' ');
    if (align == Align::right) line += padding;
    line += cell;
    if (align == Align::left) line += padding;
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
    if (cells.size() > columns_.size()) throw std::logic_error("a row with too many cells");
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::render() const {
    std::vector<std::string> titles;
    std::vector<std::size_t> widths;
    for (const auto& column : columns_) {
        titles.push_back(column.title);
        widths.push_back(width_of(column.title));
    }
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    }
    std::string text;
    const auto add_line = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) line += "  ";
            append_cell(line, cells[i], widths[i], columns_[i].align);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    add_line(titles);
    for (const auto& row : rows_) add_line(row);
    return text;
}

}  // namespace opgauge
