// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/row.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {

// A test of the corpus and how it ended, in the corpus's own words.
struct TestOutcome {
    std::string node;
    std::string outcome;  // passed, failed, skipped, error
    std::string reason;
    double seconds = 0;
    bool dtype_not_supported = false;  // failed only because a dtype was asked for that it lacks
    std::vector<std::string> dtypes;   // that it can measure, in its order; empty: it did not say
};

// As a `test_end` tells it (docs/child_protocol.md).
TestOutcome test_from(const Json& message);

// What an earlier part of the same run has finished; empty in a new run.
struct KeptRun {
    std::vector<Row> rows;
    std::vector<TestOutcome> tests;
};

// Cases that an earlier part of the run has measured, in a test that it did not finish. A test may
// have the same case twice, so that each is handed out once.
class KeptCases {
  public:
    explicit KeptCases(const std::vector<Row>& rows) {
        for (const auto& row : rows) ++left_[{row.work.node, row.case_id}];
    }
    bool take(const std::string& node, const std::string& case_id) {
        const auto found = left_.find({node, case_id});
        if (found == left_.end() || found->second == 0) return false;
        --found->second;
        return true;
    }

  private:
    std::map<std::pair<std::string, std::string>, int> left_;
};

}  // namespace opgauge
