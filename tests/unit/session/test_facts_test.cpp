// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/test_facts.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

using Strings = std::vector<std::string>;

Row row_of(const std::string& node, const std::string& dtype) {
    Row row;
    row.work.node = node;
    row.work.dtype = dtype;
    return row;
}

TEST(TestFacts, ParametrisationsOfAFunctionAreTakenTogether) {
    const std::vector<TestOutcome> tests = {
        {"t.py::mul[a]", "passed", "", 1.5, false, {"float16", "int8"}},
        {"t.py::mul[b]", "failed", "x", 2.0, false, {"int8", "bool"}},
        {"t.py::bit", "failed", "no float16", 0.5, true, {"int16"}}};
    const auto known = known_tests(
        tests, {row_of("t.py::mul[a]", "float16"), row_of("t.py::mul[b]", "bool"),
                row_of("t.py::mul[b]", "float16"), row_of("t.py::unfinished", "float16")});
    ASSERT_EQ(known.size(), 2U);
    EXPECT_EQ(known[0].node, "t.py::bit");
    EXPECT_EQ(known[0].outcome, "skipped");
    EXPECT_EQ(known[0].cases, 0);
    EXPECT_EQ(known[1].node, "t.py::mul");
    EXPECT_EQ(known[1].dtypes, (Strings{"float16", "int8", "bool"}));
    EXPECT_EQ(known[1].measured, (Strings{"float16", "bool"}));
    EXPECT_EQ(known[1].cases, 3);
    EXPECT_EQ(known[1].seconds, 3.5);
    EXPECT_EQ(known[1].outcome, "failed");
}

}  // namespace
}  // namespace opgauge
