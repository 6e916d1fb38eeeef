// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text_table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace opgauge {
namespace {

TEST(TextTable, ColumnsAreAlignedByCharactersAndLinesHaveNoTrailingBlanks) {
    TextTable table({{"name"}, {"time", Align::right}, {"note"}});
    table.add_row({"mm", "1.5 µs", "größer"});
    table.add_row({"softmax", "12 µs", ""});
    EXPECT_EQ(table.render(),
              "name       time  note\n"
              "mm       1.5 µs  größer\n"
              "softmax   12 µs\n");
}

TEST(TextTable, MissingCellsAreEmptyAndAnEmptyTableIsItsTitles) {
    TextTable table({{"a"}, {"b", Align::right}});
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.render(), "a  b\n");
    table.add_row({"x"});
    EXPECT_FALSE(table.empty());
    EXPECT_EQ(table.render(), "a  b\nx\n");
}

TEST(TextTable, TooManyCellsAreABrokenInvariant) {
    TextTable table({{"a"}});
    EXPECT_THROW(table.add_row({"1", "2"}), std::logic_error);
}

}  // namespace
}  // namespace opgauge
