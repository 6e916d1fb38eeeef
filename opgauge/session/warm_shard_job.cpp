// SPDX-License-Identifier: Apache-2.0
// A shard's job as a file.
#include "opgauge/session/warm_shard.h"

#include <fmt/format.h>

namespace opgauge {

Json to_json(const ShardJob& job) {
    return {
        {"schema_version", 1},
        {"shard", job.shard},
        {"shards", job.shards},
        {"folder", job.folder.string()},
        {"argv", job.argv},
        {"working_directory", job.working_directory},
        {"backend", job.backend},
        {"device", job.device},
        {"timer", job.timer},
        {"timer_settings", job.timer_settings},
        {"compile_jobs", job.compile_jobs},
        {"overlap_compiling", job.overlap_compiling},
        {"tune_timing", job.tune_timing},
        {"select", job.select},
        {"scope", job.scope},
        {"overlap", {{"share", job.overlap.share}, {"count", optional_json(job.overlap.count)}}},
        {"costs", job.costs},
        {"total_ms", job.limits.total.count()},
        {"stall_ms", job.limits.stall.count()}};
}

Result<ShardJob> read_shard_job(const std::filesystem::path& file) {
    OPGAUGE_TRY_ASSIGN(const Json json, read_json_file(file));
    ShardJob job;
    const auto argv = get_optional<std::vector<std::string>>(json, "argv");
    if (get_optional<int>(json, "schema_version") != 1 || !argv || argv->empty()) {
        return fail(ErrorKind::environment,
                    fmt::format("{} is no job of this version's warm-up", file.string()));
    }
    job.argv = *argv;
    job.shard = get_optional<int>(json, "shard").value_or(0);
    job.shards = get_optional<int>(json, "shards").value_or(1);
    job.folder = get_string(json, "folder");
    job.working_directory = get_string(json, "working_directory");
    job.backend = get_string(json, "backend");
    job.device = json.value("device", Json::object());
    job.timer = get_string(json, "timer");
    job.timer_settings = json.value("timer_settings", Json::object());
    job.compile_jobs = get_optional<int>(json, "compile_jobs").value_or(1);
    job.overlap_compiling = get_optional<bool>(json, "overlap_compiling").value_or(true);
    job.tune_timing = get_string(json, "tune_timing", "full");
    job.select = json.value("select", Json::object());
    job.scope = json.value("scope", Json::object());
    const Json overlap = json.value("overlap", Json::object());
    job.overlap.share = get_optional<double>(overlap, "share").value_or(0);
    job.overlap.count = get_optional<int>(overlap, "count");
    job.costs = get_optional<CaseCosts>(json, "costs").value_or(CaseCosts());
    const auto duration = [&](const char* name) {
        return std::chrono::milliseconds(get_optional<long long>(json, name).value_or(0));
    };
    job.limits.total = duration("total_ms");
    job.limits.stall = duration("stall_ms");
    return job;
}

}  // namespace opgauge
