// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/csv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opgauge {
namespace {

TEST(Csv, CellsThatNeedItAreQuoted) {
    const std::vector<std::string> cells = {"mm", "[1, 2]", "say \"hi\"", "two\nlines", ""};
    EXPECT_EQ(csv_line(cells), "mm,\"[1, 2]\",\"say \"\"hi\"\"\",\"two\nlines\",\n");
    EXPECT_EQ(csv_line(std::vector<std::string>{}), "\n");
}

TEST(Csv, ASpreadsheetRunsNoCell) {
    EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
    EXPECT_EQ(csv_cell("@SUM(A1)"), "'@SUM(A1)");
    EXPECT_EQ(csv_cell("+cmd"), "'+cmd");
    EXPECT_EQ(csv_cell("-x"), "'-x");
    EXPECT_EQ(csv_cell("=A1,B1"), "\"'=A1,B1\"");
    EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
}

TEST(Csv, ANegativeNumberStaysANumber) {
    EXPECT_EQ(csv_cell("-1.5e-3"), "-1.5e-3");
    EXPECT_EQ(csv_cell("-1"), "-1");
}

}  // namespace
}  // namespace opgauge
