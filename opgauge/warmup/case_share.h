// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/plan/plan.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {

// Seconds that the tuning of a case took in an earlier run, by its id.
using CaseCosts = std::map<std::string, double>;

// A case as a shard's child announces it.
struct AnnouncedCase {
    std::string id;
    int test = 0;   // place of its test in the collected list
    int index = 0;  // within its test
    double elements = 0;
};

// Numbers of all tensors among a case's shapes.
double elements_of(const Json& shapes);

// Which shards tune a case. Every shard asks its own copy and gets the same answer, though none
// knows the list of cases: with known costs the longest goes first to the shard that has least to
// do (LPT); a case without one goes, within its test, to the shard with the least work of that test
// by its size. So a test that one shard never sees the end of moves no case of another test.
class CaseShare {
  public:
    CaseShare(int shards, WarmupOverlap overlap, CaseCosts costs = {});

    // The first is the case's own shard; a second one tunes it too, to see whether they agree.
    std::vector<int> shards_of(const AnnouncedCase& announced);

  private:
    int own_shard(const AnnouncedCase& announced);
    bool tuned_twice(const AnnouncedCase& announced);

    int shards_;
    WarmupOverlap overlap_;
    std::map<std::string, int> planned_;                        // by known cost
    std::map<std::pair<int, int>, std::vector<int>> assigned_;  // by test and index
    std::map<int, std::vector<double>> load_;                   // by test and shard
};

}  // namespace opgauge
