// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warmup.h"

#include "opgauge/base/file.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/run/workers.h"
#include "opgauge/session/planned_device.h"
#include "opgauge/session/run_setup.h"
#include "opgauge/session/tuning_scope.h"
#include "opgauge/session/warm_shard.h"
#include "opgauge/session/warmup_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "warmup";
constexpr const char* kMerged = "merged.db";
constexpr const char* kReport = "report.json";
constexpr const char* kSelf = "/proc/self/exe";
// A shard ends its own child at the limit; only one that hangs itself comes this far.
constexpr std::chrono::seconds kBeyondLimit{15};

fs::path shard_folder(const WarmupInput& input, std::size_t shard) {
    return input.run_dir / kFolder / fmt::format("shard-{}", shard);
}

// Pinned to the shard's own device, with a compile cache that no other process writes.
Environment shard_environment(const WarmupInput& input, std::size_t shard) {
    Environment environment = input.environment;
    for (const auto& [name, value] : input.plan.warmup.shards[shard].changes) {
        environment.change(name, value);
    }
    const fs::path compiled = shard_folder(input, shard) / ShardFiles::kCompiled;
    environment.set("TRITON_CACHE_DIR", fs::absolute(compiled).string());
    return environment;
}

ShardJob job_of(const WarmupInput& input, std::size_t shard) {
    const Plan& plan = input.plan;
    ShardJob job;
    job.shard = static_cast<int>(shard);
    job.shards = static_cast<int>(plan.warmup.shards.size());
    job.folder = fs::absolute(shard_folder(input, shard));
    job.argv = plan.command.argv;
    job.working_directory = plan.command.working_directory;
    job.backend = plan.backend.value;
    job.device = planned_device(input.plan.warmup.shards[shard]);
    job.timer = plan.timer.value;
    job.timer_settings = plan.timer_settings;
    // The shards compile at the same time, on the same cores.
    job.compile_jobs = std::max(1, plan.compile.jobs / static_cast<int>(plan.warmup.shards.size()));
    job.overlap_compiling = plan.compile.overlap;
    job.tune_timing = plan.tune_timing.value;
    job.select = job_selection(plan);
    job.scope = to_json(scope_before_child(plan, input.environment));
    job.overlap = plan.warmup.overlap;
    job.costs = input.costs;
    job.limits = input.options.limits;
    return job;
}

Result<WorkerSpec> prepare(const WarmupInput& input, std::size_t shard) {
    const fs::path folder = shard_folder(input, shard);
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path job = folder / ShardFiles::kJob;
    OPGAUGE_TRY(write_file_atomically(job, to_text(to_json(job_of(input, shard)))));
    WorkerSpec spec;
    spec.argv = {kSelf, "warm-shard", fs::absolute(job).string()};
    spec.environment = shard_environment(input, shard).to_strings();
    spec.log_file = folder / RunFiles::kLog;
    return spec;
}

// A store that cannot be read is one shard's loss, not the warm-up's.
std::vector<MergeSource> readable_stores(const WarmupInput& input, WarmupReport& report) {
    std::vector<MergeSource> sources;
    for (std::size_t i = 0; i < report.shards.size(); ++i) {
        const fs::path store = shard_folder(input, i) / RunFiles::kTuning;
        const auto opened = TuningStore::open(store, DatabaseAccess::read);
        if (opened) {
            sources.push_back({store, fmt::format("shard {}", i)});
        } else {
            report.problems.push_back(
                fmt::format("warm-up: shard {} left no store: {}", i, opened.error().message));
        }
    }
    return sources;
}

// Without any source the merged store is empty, and each key that the run tunes is `not_warmed`.
Result<WarmedKeys> merge(const WarmupInput& input, WarmupReport& report) {
    const auto sources = readable_stores(input, report);
    const fs::path merged = input.run_dir / kFolder / kMerged;
    OPGAUGE_TRY_ASSIGN(report.merged, merge_stores(merged, sources));
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(merged, DatabaseAccess::read));
    OPGAUGE_TRY_ASSIGN(auto timings, store.timings());
    OPGAUGE_TRY_ASSIGN(auto winners, Replay::open(merged));
    const WarmupPlan& plan = input.plan.warmup;
    const auto confirm = plan.shared    ? WarmedKeys::Confirm::all
                         : plan.confirm ? WarmedKeys::Confirm::disputed
                                        : WarmedKeys::Confirm::none;
    WarmedKeys keys{std::move(winners), std::move(timings), confirm, {}};
    for (const auto& one : report.merged.disagreements) {
        Json& configs = keys.disputed[place_of(one.kernel, one.space, one.key, one.scope)];
        configs = Json::array();
        for (const auto& side : one.sides) configs.push_back(side.config);
    }
    return keys;
}

// The run compiles winners only, and does it again: nothing of a shard's cache is read any more.
void remove_compiled(const WarmupInput& input) {
    std::error_code error;
    for (std::size_t i = 0; i < input.plan.warmup.shards.size(); ++i) {
        fs::remove_all(shard_folder(input, i) / ShardFiles::kCompiled, error);
    }
}

}  // namespace

Result<std::optional<WarmedKeys>> earlier_warmup(const WarmupInput& input) {
    const fs::path folder = input.run_dir / kFolder;
    std::error_code error;
    if (!fs::exists(folder / kReport, error) || !fs::exists(folder / kMerged, error)) {
        fs::remove_all(folder, error);
        return std::optional<WarmedKeys>();
    }
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(folder / kMerged, DatabaseAccess::read));
    OPGAUGE_TRY_ASSIGN(auto timings, store.timings());
    OPGAUGE_TRY_ASSIGN(auto winners, Replay::open(folder / kMerged));
    // Which keys were disputed is not read back: all are confirmed then.
    const bool confirm = input.plan.warmup.shared || input.plan.warmup.confirm;
    return std::optional(WarmedKeys{std::move(winners),
                                    std::move(timings),
                                    confirm ? WarmedKeys::Confirm::all : WarmedKeys::Confirm::none,
                                    {}});
}

Result<Warmup> warm_up(const WarmupInput& input, const Clock& clock, RunObserver& observer) {
    const auto begin = clock.now();
    std::vector<WorkerSpec> specs;
    std::vector<std::string> devices;
    for (const auto& shard : input.plan.warmup.shards) {
        OPGAUGE_TRY_ASSIGN(auto spec, prepare(input, specs.size()));
        specs.push_back(std::move(spec));
        devices.push_back(shard.token);
    }
    observer.on_phase(
        fmt::format("warming up in {} shard{}", devices.size(), devices.size() == 1 ? "" : "s"));
    WarmupWatch watch(devices, input.costs.size(), clock, observer);
    WorkerLimits limits;
    if (input.options.limits.total.count() > 0) {
        limits.total = input.options.limits.total + kBeyondLimit;
    }
    const WorkersEnd end = supervise_workers(specs, limits, watch);
    Warmup warmup;
    warmup.interrupted = end.interrupted;
    warmup.report.shards = watch.shards(end.outcomes);
    warmup.report.not_warmed = watch.not_warmed(warmup.report.shards);
    warmup.report.shared = input.plan.warmup.shared;
    warmup.report.confirm = input.plan.warmup.confirm;
    warmup.costs = watch.costs();
    remove_compiled(input);
    OPGAUGE_TRY_ASSIGN(warmup.keys, merge(input, warmup.report));
    warmup.report.seconds = std::chrono::duration<double>(clock.now() - begin).count();
    OPGAUGE_TRY(
        write_file_atomically(input.run_dir / kFolder / kReport, to_text(to_json(warmup.report))));
    return warmup;
}

}  // namespace opgauge
