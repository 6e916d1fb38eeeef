// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {

// What is known of a test of a corpus since a run measured it: nothing of it can be told without
// importing the corpus, which needs a device.
struct KnownTest {
    std::string node;
    std::string device;                 // model
    std::vector<std::string> dtypes;    // that it could measure; empty: it did not say
    std::vector<std::string> measured;  // that the last run measured
    int cases = 0;                      // of the last run
    double seconds = 0;   // of the last run's test, tuning and first compiles included
    std::string outcome;  // passed, failed, skipped, error
    std::string date;     // UTC
};

Json to_json(const KnownTest& test);

// The tests of one corpus, a JSON line each in `tests/CORPUS.jsonl` of the cache folder; of several
// of one node on one device the last line counts. Losing it costs what `corpus show` tells.
std::filesystem::path known_tests_file(const std::filesystem::path& cache,
                                       const std::string& corpus_root);
std::vector<KnownTest> read_known_tests(const std::filesystem::path& file);
void add_known_tests(const std::filesystem::path& file, const std::vector<KnownTest>& tests);

}  // namespace opgauge
