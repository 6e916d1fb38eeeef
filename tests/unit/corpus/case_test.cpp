// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/case.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

Case case_of(const char* text) {
    return *case_from_json(Json::parse(text));
}

TEST(Case, EqualWorkHasOneIdWhateverTheOrderOfMembers) {
    const Case a = case_of(R"({"operator":"mm","dtype":"float16","shapes":[[2,3]],
                               "attributes":{"x":1,"y":2},"node":"a.py::t"})");
    const Case b = case_of(R"({"attributes":{"y":2,"x":1},"shapes":[[2,3]],"dtype":"float16",
                               "operator":"mm","node":"another.py::t"})");
    EXPECT_EQ(case_id(a), case_id(b));
    EXPECT_EQ(case_id(a).size(), 16U);
}

TEST(Case, TheIdIsTheSameInEveryVersion) {
    // Kept runs are compared with new ones: this value must never change.
    EXPECT_EQ(
        case_id(case_of(R"({"operator":"mm","dtype":"float16","shapes":[[384,384],[384,384]]})")),
        "3c7d560c3d48343a");
}

TEST(Case, EveryPartOfTheWorkChangesTheId) {
    const std::string base =
        case_id(case_of(R"({"operator":"mm","dtype":"float16","shapes":[[2,3]]})"));
    for (const char* other :
         {R"({"operator":"bmm","dtype":"float16","shapes":[[2,3]]})",
          R"({"operator":"mm","dtype":"float32","shapes":[[2,3]]})",
          R"({"operator":"mm","dtype":"float16","shapes":[[3,2]]})",
          R"({"operator":"mm","dtype":"float16","shapes":[[2,3]],"layout":[[1,2]]})",
          R"({"operator":"mm","dtype":"float16","shapes":[[2,3]],"attributes":{"dim":1}})"}) {
        EXPECT_NE(case_id(case_of(other)), base) << other;
    }
}

TEST(Case, ShapesReadAsPeopleWriteThem) {
    EXPECT_EQ(shapes_text(case_of(
                  R"({"operator":"x","shapes":[[384,384],[],[7],1.5,null,"sum",[[1,2],[3]]]})")),
              "384x384, scalar, 7, 1.5, null, sum, [[1,2],[3]]");
}

TEST(Case, WhatIsNoCaseIsNamed) {
    EXPECT_EQ(case_from_json(Json::array()).error().message, "a case is not a JSON object");
    EXPECT_EQ(case_from_json(Json::object()).error().message, "a case has no operator");
    EXPECT_EQ(case_from_json({{"operator", "mm"}, {"shapes", 1}}).error().message,
              "the shapes of a case of mm are not a list");
}

}  // namespace
}  // namespace opgauge
