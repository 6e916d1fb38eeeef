// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/test_facts.h"

#include "opgauge/plan/cache.h"
#include "opgauge/record/known_tests.h"

#include <algorithm>
#include <map>

namespace opgauge {
namespace {

// The node of a test function; what is behind it chooses one of its parametrisations.
std::string function_of(const std::string& node) {
    return node.substr(0, node.find('['));
}

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// The worst of its parametrisations.
std::string worse(const std::string& a, const std::string& b) {
    for (const char* outcome : {"error", "failed", "passed"}) {
        if (a == outcome || b == outcome) return outcome;
    }
    return b;
}

}  // namespace

std::vector<KnownTest> known_tests(const std::vector<TestOutcome>& tests,
                                   const std::vector<Row>& rows) {
    std::map<std::string, KnownTest> known;
    for (const auto& test : tests) {
        KnownTest& one = known[function_of(test.node)];
        for (const auto& dtype : test.dtypes) add_once(one.dtypes, dtype);
        one.seconds += test.seconds;
        one.outcome = worse(one.outcome, test.dtype_not_supported ? "skipped" : test.outcome);
    }
    for (const auto& row : rows) {
        const auto found = known.find(function_of(row.work.node));
        if (found == known.end()) continue;
        ++found->second.cases;
        if (!row.work.dtype.empty()) add_once(found->second.measured, row.work.dtype);
    }
    std::vector<KnownTest> list;
    for (auto& [node, test] : known) {
        test.node = node;
        list.push_back(std::move(test));
    }
    return list;
}

void keep_tests(const Plan& plan, const std::vector<TestOutcome>& tests,
                const std::vector<Row>& rows, const Environment& environment, const Clock& clock) {
    auto known = known_tests(tests, rows);
    for (auto& test : known) {
        test.device = plan.device.device.name;
        test.date = utc_text(clock.wall_time());
    }
    add_known_tests(known_tests_file(cache_folder(environment), plan.corpus_root), known);
}

}  // namespace opgauge
