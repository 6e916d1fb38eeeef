// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace opgauge {
namespace {

using ::testing::HasSubstr;

TEST(SharedLibrary, TheFirstNameThatLoadsIsTaken) {
    const std::vector<std::string> names = {"libno_such_thing.so.1", "libm.so.6", "libc.so.6"};
    const auto library = SharedLibrary::open(names);
    ASSERT_TRUE(library) << library.error().message;
    EXPECT_EQ(library->name(), "libm.so.6");
    auto* cosine = library->symbol<double(double)>("cos");
    ASSERT_NE(cosine, nullptr);
    EXPECT_EQ(cosine(0.0), 1.0);
    EXPECT_EQ(library->symbol<void()>("opgauge_has_no_such_symbol"), nullptr);
}

TEST(SharedLibrary, TheErrorSaysWhatTheLoaderSaidOfEachName) {
    const std::vector<std::string> names = {"libno_such_a.so", "libno_such_b.so"};
    const auto library = SharedLibrary::open(names);
    ASSERT_FALSE(library);
    EXPECT_EQ(library.error().kind, ErrorKind::environment);
    EXPECT_THAT(library.error().message, HasSubstr("libno_such_a.so"));
    EXPECT_THAT(library.error().message, HasSubstr("libno_such_b.so"));
    EXPECT_THAT(library.error().message, HasSubstr("No such file"));
}

TEST(SharedLibrary, ItMovesWithoutBeingClosedTwice) {
    const std::vector<std::string> names = {"libm.so.6"};
    auto first = SharedLibrary::open(names);
    ASSERT_TRUE(first);
    SharedLibrary second = std::move(*first);
    auto third = SharedLibrary::open(names);
    ASSERT_TRUE(third);
    *third = std::move(second);
    EXPECT_EQ(third->symbol<double(double)>("cos")(0.0), 1.0);
}

}  // namespace
}  // namespace opgauge
