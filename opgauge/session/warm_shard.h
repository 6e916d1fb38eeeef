// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/run/supervisor.h"
#include "opgauge/session/conversation.h"
#include "opgauge/warmup/case_share.h"

#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {

// Files of one shard, in RUN/warmup/shard-K; the store, log and events are named as a run's.
struct ShardFiles {
    static constexpr const char* kJob = "job.json";
    static constexpr const char* kCompiled = "compiled";  // its own compile cache
};

// What a shard of a warm-up is to do: the child to start and the cases that are its own. Written
// by the run, read by `opgauge warm-shard`. The environment, which holds secrets, is passed as
// such.
struct ShardJob {
    int shard = 0;
    int shards = 1;
    std::filesystem::path folder;
    std::vector<std::string> argv;
    std::string working_directory;
    std::string backend;
    Json device = Json::object();
    std::string timer;
    Json timer_settings = Json::object();
    int compile_jobs = 1;
    bool overlap_compiling = true;
    std::string tune_timing = "full";
    Json select = Json::object();  // run_setup.h
    Json scope = Json::object();   // what is known of the winners' scope
    WarmupOverlap overlap;
    CaseCosts costs;
    ChildLimits limits;
};
Json to_json(const ShardJob& job);
// Kind environment: it cannot be read.
Result<ShardJob> read_shard_job(const std::filesystem::path& file);

// The whole of `opgauge warm-shard`: one supervised child that tunes the shard's cases into the
// shard's own store. Tells each step through `channel_fd` (docs/warmup.md). The exit code.
Result<int> run_warm_shard(const ShardJob& job, int channel_fd, const Environment& environment,
                           const Clock& clock);

}  // namespace opgauge
