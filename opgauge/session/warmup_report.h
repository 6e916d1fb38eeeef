// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/tuning/merge.h"

#include <string>
#include <vector>

namespace opgauge {

// How one shard of a warm-up ended.
struct ShardEnd {
    std::string device;  // its token
    std::string status;  // finished, timeout, crashed, failed, interrupted
    std::string reason;
    int cases = 0;  // announced to it, also those of others
    int tuned = 0;
    double seconds = 0;
};

struct NotWarmed {
    std::string name;
    int shard = 0;  // whose it was
    std::string reason;
};

// What a warm-up has done, for the run's files and for people.
struct WarmupReport {
    std::vector<ShardEnd> shards;
    MergeReport merged;
    std::vector<NotWarmed> not_warmed;
    std::vector<std::string> problems;  // stores that could not be read
    bool shared = false;
    bool confirm = false;
    double seconds = 0;
};

// For RUN/warmup/report.json and the run's status.json.
Json to_json(const WarmupReport& report);
// The identity's member /tuning/warmup, less what only the end of the run knows.
Json warmup_identity(const WarmupReport& report);
// One line each: how far the shards agree, which cases were not warmed.
std::vector<std::string> warmup_lines(const WarmupReport& report);

}  // namespace opgauge
