// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/kept_tests.h"

#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/base/text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace opgauge {
namespace {

// Most lines are samples, and long.
bool may_matter(std::string_view line) {
    constexpr std::array<std::string_view, 5> kMarks = {
        R"("type":"hello")", R"("type":"test_begin")", R"("type":"test_end")",
        R"("type":"stopping")", "dtype_not_supported"};
    return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
        return line.find(mark) != std::string_view::npos;
    });
}

// Follows the lines of all children, one after the other.
class Reader {
  public:
    void take(const Json& message) {
        const std::string type = get_string(message, "type");
        if (type == "stopping") stopping_ = true;
        if (type == "hello") stopping_ = false;
        if (stopping_) return;
        if (type == "test_begin") lacks_dtype_ = false;
        if (get_string(message, "name") == "dtype_not_supported") lacks_dtype_ = true;
        if (type != "test_end") return;
        TestOutcome test = test_from(message);
        test.dtype_not_supported = lacks_dtype_;
        tests_.push_back(std::move(test));
    }
    std::vector<TestOutcome> tests() && { return std::move(tests_); }

  private:
    std::vector<TestOutcome> tests_;
    bool stopping_ = false;
    bool lacks_dtype_ = false;
};

}  // namespace

TestOutcome test_from(const Json& message) {
    TestOutcome test;
    test.node = get_string(message, "node");
    test.outcome = get_string(message, "outcome");
    test.reason = printable(get_string(message, "reason"));
    test.seconds = get_optional<double>(message, "seconds").value_or(0);
    test.dtypes = get_optional<std::vector<std::string>>(message, "dtypes")
                      .value_or(std::vector<std::string>());
    return test;
}

Result<std::vector<TestOutcome>> read_finished_tests(const std::filesystem::path& events) {
    std::error_code error;
    if (!std::filesystem::exists(events, error)) return std::vector<TestOutcome>();
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(events));
    Reader reader;
    for (const auto& line : lines_of(text)) {
        if (!may_matter(line)) continue;
        const Json json = Json::parse(line, nullptr, false);
        if (json.is_object()) reader.take(json.value("message", Json::object()));
    }
    return std::move(reader).tests();
}

}  // namespace opgauge
