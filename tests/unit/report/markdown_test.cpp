// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/markdown.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(Markdown, PlainWordsStay) {
    for (const char* text : {"mm", "scaled_dot_product", "384x384, 384x384", "12.34 us", "0.10 %",
                             "3.34 GB/s", "compared 3: faster 1", "-", ""}) {
        EXPECT_EQ(markdown_text(text), text);
    }
}

TEST(Markdown, WhatAPageWouldActOnIsAnEntityInCode) {
    EXPECT_EQ(markdown_text("a|b"), "<code>a&#124;b</code>");
    EXPECT_EQ(markdown_text("<b>"), "<code>&#60;b&#62;</code>");
    EXPECT_EQ(markdown_text("@team"), "<code>&#64;team</code>");
    EXPECT_EQ(markdown_text("see #12"), "<code>see &#35;12</code>");
    EXPECT_EQ(markdown_text("__init__"), "<code>&#95;&#95;init&#95;&#95;</code>");
    EXPECT_EQ(markdown_text("http://x"), "<code>http&#58;//x</code>");
    EXPECT_EQ(markdown_text("www.x.org"), "<code>www.x.org</code>");
    EXPECT_EQ(markdown_text("=1+1"), "<code>=1+1</code>");
    EXPECT_EQ(markdown_text("a\nb"), "<code>a&#92;x0ab</code>");
}

TEST(Markdown, LongTextIsCut) {
    EXPECT_EQ(markdown_text("abcdef", 3), "<code>abc...</code>");
}

TEST(Markdown, RowsThatDoNotFitAreCounted) {
    ReportTable table;
    table.columns = {{"name"}, {"time", Align::right}};
    for (int i = 0; i < 10; ++i) table.rows.push_back({"mm", "1 us"});
    EXPECT_EQ(markdown_table(table, 70),
              "| name | time |\n| --- | ---: |\n| mm | 1 us |\n| mm | 1 us |\n"
              "\n2 of 10 rows are shown; `opgauge report --format csv` has all.\n");
}

}  // namespace
}  // namespace opgauge
