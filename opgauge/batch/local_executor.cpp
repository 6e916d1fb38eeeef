// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/local_executor.h"

#include "opgauge/batch/dispatcher.h"
#include "opgauge/run/workers.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitNoDevice = 4;
constexpr int kExitSignalBase = 128;

// What says which operator is to be run, or where it is tuned first, is not a lane's to read.
std::vector<std::string> lane_environment(Environment environment) {
    for (const char* name : {"OP", "OP_FILE", "TEST_NODE", "PARALLEL_WARMUP_GPUS"}) {
        environment.unset(name);
    }
    return environment.to_strings();
}

std::vector<WorkerSpec> lane_specs(const Batch& batch, const LocalSettings& settings) {
    const auto environment = lane_environment(settings.environment);
    std::vector<WorkerSpec> specs;
    for (const auto& device : lane_devices(batch)) {
        WorkerSpec spec;
        spec.argv = {settings.program, "batch-lane"};
        spec.argv.insert(spec.argv.end(), batch.run_options.begin(), batch.run_options.end());
        spec.argv.insert(spec.argv.end(), {"--devices", device.request});
        spec.argv.insert(spec.argv.end(), batch.lane_options.begin(), batch.lane_options.end());
        if (batch.lanes_per_device > 1) {
            spec.argv.insert(spec.argv.end(),
                             {"--lanes-per-device", std::to_string(batch.lanes_per_device)});
        }
        spec.environment = environment;
        spec.log_file = batch.folder / BatchFiles::kLanes / fmt::format("{}.log", specs.size());
        specs.push_back(std::move(spec));
    }
    return specs;
}

// Everything that no lane will do any more.
std::size_t close_waiting(Batch& batch, BatchFolder& folder, const std::string& why) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        BatchItem& item = batch.items[i];
        if (item.state != EntryState::pending) continue;
        ++left;
        item.state = EntryState::not_run;
        item.result = ended_with("not_run", why);
        folder.touch(i);
    }
    return left;
}

void judge(Batch& batch, BatchFolder& folder, const std::optional<Stopped>& interrupted) {
    const std::string why = interrupted ? interrupted->by : "no device was left";
    const std::size_t left = close_waiting(batch, folder, why);
    const bool any_bad = std::any_of(batch.items.begin(), batch.items.end(),
                                     [](const BatchItem& item) { return !is_good(item.result); });
    batch.state = "finished";
    batch.exit_code = any_bad ? kExitFailed : 0;
    if (left > 0) {
        batch.state = "no_device";
        batch.exit_code = kExitNoDevice;
    }
    if (interrupted) {
        batch.state = "interrupted";
        batch.exit_code = kExitSignalBase + interrupted->signal;
    }
}

// Without anything to run, no lane is started.
bool anything_waits(const Batch& batch) {
    return std::any_of(batch.items.begin(), batch.items.end(),
                       [](const BatchItem& item) { return item.state == EntryState::pending; });
}

// What cannot be run is finished before the first lane starts.
void finish_problems(Batch& batch) {
    for (auto& item : batch.items) {
        if (item.entry.problem.empty() || item.state == EntryState::finished) continue;
        item.state = EntryState::finished;
        item.result = ended_with("no_tests", item.entry.problem);
        item.result.exit_code = kExitFailed;
        item.run_dir.clear();
    }
}

}  // namespace

Result<void> run_local(Batch& batch, BatchFolder& folder, EntryCosts& costs,
                       const LocalSettings& settings, const Clock& clock, BatchObserver& observer) {
    finish_problems(batch);
    batch.updated = utc_text(clock.wall_time());
    OPGAUGE_TRY(folder.save(batch));
    std::optional<Stopped> interrupted;
    if (anything_waits(batch)) {
        Dispatcher dispatcher(batch, folder, costs, settings, clock, observer);
        WorkerLimits limits;
        limits.interrupt = settings.interrupt;
        limits.after_close = settings.after_close;
        interrupted =
            supervise_workers(lane_specs(batch, settings), limits, dispatcher).interrupted;
        dispatcher.account();
        if (const auto& error = dispatcher.error()) return tl::unexpected<Error>(*error);
    }
    judge(batch, folder, interrupted);
    batch.updated = utc_text(clock.wall_time());
    return folder.save(batch);
}

}  // namespace opgauge
