// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, TrimTakesBlanksFromBothEndsOnly) {
    EXPECT_EQ(trim(" \t a b \r\n"), "a b");
    EXPECT_EQ(trim(" \n"), "");
    EXPECT_EQ(trim(""), "");
}

TEST(Text, OneIsCountedWithoutAnEnding) {
    EXPECT_EQ(counted(0, "row"), "0 rows");
    EXPECT_EQ(counted(1, "run"), "1 run");
    EXPECT_EQ(counted(2, "operator"), "2 operators");
}

TEST(Text, SplitKeepsEmptyFields) {
    EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
    EXPECT_THAT(split("", ','), ElementsAre(""));
    EXPECT_THAT(split(",", ','), ElementsAre("", ""));
}

TEST(Text, LinesEndWithEitherLineBreakAndHaveNoEmptyLastOne) {
    EXPECT_THAT(lines_of("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
    EXPECT_THAT(lines_of("a\n"), ElementsAre("a"));
    EXPECT_THAT(lines_of(""), IsEmpty());
    EXPECT_THAT(lines_of("\n"), ElementsAre(""));
}

TEST(Text, JoinPutsTheSeparatorBetween) {
    EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
    EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

TEST(Text, APrefixMatchesInAnyCase) {
    EXPECT_TRUE(starts_with_ignoring_case("GPU-1f7C", "gpu-1F7c"));
    EXPECT_FALSE(starts_with_ignoring_case("GPU", "GPU-"));
    EXPECT_TRUE(starts_with_ignoring_case("GPU", ""));
    EXPECT_EQ(lower("Größe ABC"), "größe abc");
}

TEST(Text, AnUnsignedNumberIsDigitsAndNothingElse) {
    EXPECT_EQ(parse_unsigned("0"), 0U);
    EXPECT_EQ(parse_unsigned("18446744073709551615"), 18446744073709551615ULL);
    for (const auto* text :
         {"", "-1", "+1", " 1", "1 ", "1x", "0x10", "1.0", "18446744073709551616"}) {
        EXPECT_EQ(parse_unsigned(text), std::nullopt) << text;
    }
}

TEST(Text, ADoubleMayHaveAnExponentButNoRest) {
    EXPECT_EQ(parse_double("1.5e3"), 1500.0);
    EXPECT_EQ(parse_double("-2"), -2.0);
    for (const auto* text : {"", "1.5 ", "1,5", "1e", "x"}) {
        EXPECT_EQ(parse_double(text), std::nullopt) << text;
    }
}

TEST(Text, TheNearestNameIsASlipOfTheHandAway) {
    const std::vector<std::string> known = {"cuda", "musa", "rocm", "softmax"};
    EXPECT_EQ(nearest("cudaa", known), "cuda");
    EXPECT_EQ(nearest("CUDA", known), "cuda");
    EXPECT_EQ(nearest("sofmtax", known), "softmax");
    EXPECT_EQ(nearest("ascend", known), std::nullopt);
    EXPECT_EQ(nearest("zzz", known), std::nullopt);
    EXPECT_EQ(suggestion("rocn", known), "; did you mean 'rocm'?");
    EXPECT_EQ(suggestion("ascend", known), "");
}

TEST(Printable, ControlCharactersAreShownNotObeyed) {
    EXPECT_EQ(printable("a\tb\nc\x1b[31m\x7f"), R"(a\x09b\x0ac\x1b[31m\x7f)");
    EXPECT_EQ(printable(std::string("a\0b", 3)), R"(a\x00b)");
    // C1, here CSI: a terminal obeys it as it does ESC [.
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              R"(\xc2\x9b31m)");
}

TEST(Printable, Utf8StaysAndOtherBytesAreShown) {
    EXPECT_EQ(printable("µs, 中文, 𝄞"), "µs, 中文, 𝄞");
    EXPECT_EQ(printable("\xff\xc3"), R"(\xff\xc3)");
    EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)");                  // overlong
    EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");          // a surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");  // above U+10FFFF
    EXPECT_EQ(printable("\xe4\xb8"), R"(\xe4\xb8)");                  // cut short
}

TEST(Printable, ACutFallsBetweenCharacters) {
    EXPECT_EQ(printable("abcdef", 3), "abc...");
    EXPECT_EQ(printable("abc", 3), "abc");
    EXPECT_EQ(printable("aä", 3), "aä");
    EXPECT_EQ(printable("aäb", 3), "aä...");
    EXPECT_EQ(printable("aäb", 2), "a...");
    EXPECT_EQ(printable("", 0), "");
}

}  // namespace
}  // namespace opgauge
