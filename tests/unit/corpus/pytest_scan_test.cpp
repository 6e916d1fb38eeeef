// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/pytest_scan.h"

#include "opgauge/base/file.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using Marks = std::vector<std::string>;

std::vector<CorpusNode> scan(const std::string& text) {
    return scan_pytest_file(text, "t.py");
}

TEST(PytestScan, FindsWhatPytestWouldCollectAndNothingElse) {
    const auto text =
        read_file(OPGAUGE_SOURCE_DIR "/tests/data/corpus_scan/benchmark/test_tricky.py");
    const auto nodes = scan_pytest_file(*text, "test_tricky.py");
    ASSERT_EQ(nodes.size(), 5U);
    EXPECT_EQ(nodes[0].id, "test_tricky.py::test_tricky");
    EXPECT_EQ(nodes[0].marks, (Marks{"tricky"}));
    EXPECT_EQ(nodes[0].line, 20);
    EXPECT_EQ(nodes[1].id, "test_tricky.py::test_async");
    EXPECT_EQ(nodes[1].marks, (Marks{"second"}));
    EXPECT_EQ(nodes[2].id, "test_tricky.py::TestGroup::test_method");
    EXPECT_EQ(nodes[2].marks, (Marks{"in_class", "grouped"}));
    EXPECT_EQ(nodes[3].id, "test_tricky.py::test_plain");
    EXPECT_TRUE(nodes[3].marks.empty());
    EXPECT_EQ(nodes[4].id, "test_tricky.py::test_collection");
    EXPECT_TRUE(nodes[4].marks.empty());
    EXPECT_EQ(nodes[4].case_marks, (Marks{"one_case"}));
}

TEST(PytestScan, ADecoratorBelongsToTheNextFunctionOnly) {
    const auto nodes = scan("@pytest.mark.a\ndef helper():\n    pass\ndef test_b():\n    pass\n");
    ASSERT_EQ(nodes.size(), 1U);
    EXPECT_TRUE(nodes[0].marks.empty());
}

TEST(PytestScan, SurvivesFilesThatAreNotWhole) {
    EXPECT_TRUE(scan("").empty());
    EXPECT_TRUE(scan("@pytest.mark.").empty());
    EXPECT_TRUE(scan("x = '''never closed\ndef test_a(): pass\n").empty());
    EXPECT_TRUE(scan("x = [1,\ndef test_a(): pass").empty());
    EXPECT_EQ(scan("x = 'one line only\ndef test_a(): pass").size(), 1U);
    EXPECT_EQ(scan("def test_a(): pass\\").size(), 1U);
}

TEST(PytestScan, OptionsAreNamesInAddoption) {
    EXPECT_EQ(scan_options("parser.addoption(\"--level\", x)\nparser.addoption(\n  \"--mode\" if a "
                           "else \"--fg_mode\")\nprint(\"-- text --\")"),
              (Marks{"--level", "--mode", "--fg_mode"}));
}

}  // namespace
}  // namespace opgauge
