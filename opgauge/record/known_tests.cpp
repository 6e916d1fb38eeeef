// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/known_tests.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <cmath>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

using Strings = std::vector<std::string>;

// A line of another form, such as one cut in half, is passed over.
std::optional<KnownTest> test_from(std::string_view line) {
    const auto json = parse_json(line, "a line of tests");
    if (!json) return std::nullopt;
    KnownTest test;
    test.node = get_string(*json, "node");
    test.device = get_string(*json, "device");
    test.dtypes = get_optional<Strings>(*json, "dtypes").value_or(Strings());
    test.measured = get_optional<Strings>(*json, "measured").value_or(Strings());
    test.cases = get_optional<int>(*json, "cases").value_or(0);
    test.seconds = get_optional<double>(*json, "seconds").value_or(0);
    test.outcome = get_string(*json, "outcome");
    test.date = get_string(*json, "date");
    if (test.node.empty() || !std::isfinite(test.seconds)) return std::nullopt;
    return test;
}

}  // namespace

Json to_json(const KnownTest& test) {
    return {{"node", test.node},         {"device", test.device}, {"dtypes", test.dtypes},
            {"measured", test.measured}, {"cases", test.cases},   {"seconds", test.seconds},
            {"outcome", test.outcome},   {"date", test.date}};
}

std::filesystem::path known_tests_file(const std::filesystem::path& cache,
                                       const std::string& corpus_root) {
    return cache / "tests" / (short_digest(corpus_root) + ".jsonl");
}

std::vector<KnownTest> read_known_tests(const std::filesystem::path& file) {
    const auto text = read_file(file);
    if (!text) return {};
    std::map<std::pair<std::string, std::string>, KnownTest> last;
    const auto lines = lines_of(*text);
    for (const auto line : lines) {
        auto test = test_from(line);
        if (!test) continue;
        auto key = std::pair(test->node, test->device);
        last.insert_or_assign(std::move(key), std::move(*test));
    }
    std::vector<KnownTest> tests;
    for (auto& [key, test] : last) tests.push_back(std::move(test));
    return tests;
}

void add_known_tests(const std::filesystem::path& file, const std::vector<KnownTest>& tests) {
    if (tests.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    auto appender = LineAppender::open(file);
    if (!appender) return;
    for (const auto& test : tests) static_cast<void>(appender->append(to_line(to_json(test))));
}

}  // namespace opgauge
