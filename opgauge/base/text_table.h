// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace opgauge {

enum class Align { left, right };

// A plain table for terminals: columns padded to their widest cell (in characters, not bytes), two
// blanks between, no trailing blanks. Cells must already be printable.
class TextTable {
  public:
    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit TextTable(std::vector<Column> columns);
    // Missing cells are empty; more cells than columns is a broken invariant.
    void add_row(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    std::string render() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace opgauge
