// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_batch.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/batch/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSlurm = "slurm.json";
constexpr double kUnknownSeconds = 60;

// What is merged as soon as a task has ended, so that a look from another shell tells it.
class Merging final : public TaskObserver {
  public:
    Merging(Batch& batch, BatchFolder& folder, TaskObserver& next)
        : batch_(batch), folder_(folder), next_(next) {}
    void on_submit(const Job& job) override { next_.on_submit(job); }
    void on_change(const TaskReport& report) override { next_.on_change(report); }
    void on_note(const std::string& text) override { next_.on_note(text); }
    void on_end(const TaskEnd& end) override {
        const auto differ = merge_task(batch_, end);
        if (!differ.empty()) {
            next_.on_note(
                fmt::format("task {} measured under other conditions than those before "
                            "it, do not compare its numbers with theirs: {}",
                            end.task, join(differ, "; ")));
        }
        save();
        next_.on_end(end);
    }
    void save() {
        for (std::size_t item = 0; item < batch_.items.size(); ++item) folder_.touch(item);
        const auto done = folder_.save(batch_);
        if (!done) next_.on_note(done.error().message);
    }

  private:
    Batch& batch_;
    BatchFolder& folder_;
    TaskObserver& next_;
};

// Entries of unknown time count as the median of the known.
std::vector<ChunkWork> work_of(const Batch& batch, const std::map<std::string, double>& seconds) {
    std::vector<double> known;
    for (const auto& [name, time] : seconds) known.push_back(time);
    std::sort(known.begin(), known.end());
    const double median = known.empty() ? kUnknownSeconds : known[known.size() / 2];
    std::vector<ChunkWork> work;
    for (const auto& item : batch.items) {
        if (!item.entry.problem.empty()) continue;
        const auto found = seconds.find(item.entry.name);
        work.push_back({item.entry.name, found == seconds.end() ? median : found->second});
    }
    return work;
}

std::vector<std::string> names_in_chunk(const fs::path& folder, int task) {
    std::vector<std::string> names;
    const auto text = read_file(chunk_file(folder, task));
    if (!text) return names;
    for (const auto line : lines_of(*text)) names.emplace_back(line);
    return names;
}

void take_item(BatchItem& item, BatchItem measured, const std::string& prefix,
               const std::string& node) {
    item.result = std::move(measured.result);
    item.state = EntryState::finished;
    item.run_dir = prefix + measured.run_dir;
    item.lane = node.empty() ? measured.lane : node + "/" + measured.lane;
    item.attempts = measured.attempts;
}

void end_problems(Batch& batch) {
    for (auto& item : batch.items) {
        if (item.entry.problem.empty() || is_finished(item)) continue;
        item.result = ended_with("no_tests", item.entry.problem);
        item.state = EntryState::finished;
    }
}

void conclude(Batch& batch, int signal) {
    const bool good = std::all_of(batch.items.begin(), batch.items.end(), [](const auto& item) {
        return is_finished(item) && is_good(item.result);
    });
    const bool all = std::all_of(batch.items.begin(), batch.items.end(),
                                 [](const auto& item) { return is_finished(item); });
    batch.state = all && signal == 0 ? "finished" : "interrupted";
    batch.exit_code = signal != 0 ? 128 + signal : good ? 0 : 1;
}

}  // namespace

bool is_task_batch(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / kSlurm, error);
}

Result<void> write_slurm_options(const fs::path& folder, const SlurmOptions& options) {
    const Json json = {{"schema_version", 1},        {"partition", options.partition},
                       {"gres", options.gres},       {"account", options.account},
                       {"qos", options.qos},         {"constraint", options.constraint},
                       {"minutes", options.minutes}, {"at_once", options.at_once},
                       {"more", options.more}};
    return write_file_atomically(folder / kSlurm, to_text(json));
}

Result<SlurmOptions> read_slurm_options(const fs::path& folder) {
    OPGAUGE_TRY_ASSIGN(const Json json, read_json_file(folder / kSlurm));
    SlurmOptions options;
    options.partition = get_string(json, "partition");
    options.gres = get_string(json, "gres");
    options.account = get_string(json, "account");
    options.qos = get_string(json, "qos");
    options.constraint = get_string(json, "constraint");
    options.minutes = get_optional<int>(json, "minutes").value_or(0);
    options.at_once = get_optional<int>(json, "at_once").value_or(0);
    options.more = get_optional<std::vector<std::string>>(json, "more").value_or(options.more);
    return options;
}

Result<void> prepare_tasks(const Batch& batch, const SlurmBatch& settings,
                           const Environment& environment) {
    SlurmExecutor slurm(settings.slurm, environment, settings.patience);
    OPGAUGE_TRY_ASSIGN(const int limit, slurm.task_limit());
    ChunkLimits limits = settings.chunks;
    limits.most = std::min(limits.most, limit);
    TaskPlan plan;
    plan.program = settings.program;
    plan.working_directory = batch.working_directory;
    plan.backend = settings.backend;
    plan.gres = settings.slurm.gres;
    plan.options = batch.run_options;
    plan.options.insert(plan.options.end(), batch.lane_options.begin(), batch.lane_options.end());
    OPGAUGE_TRY(
        write_task_plan(batch.folder, plan, make_chunks(work_of(batch, settings.seconds), limits)));
    return write_slurm_options(batch.folder, settings.slurm);
}

std::vector<std::string> merge_task(Batch& batch, const TaskEnd& end) {
    const fs::path own = task_batch_folder(batch.folder, end.task);
    const std::string prefix = "tasks/" + own.filename().string() + "/";
    const auto measured = read_batch(own);
    std::map<std::string, BatchItem> items;
    std::vector<std::string> differ;
    if (measured) {
        for (const auto& item : measured->items) items[item.entry.name] = item;
        if (batch.backend.empty()) batch.backend = measured->backend;
        if (batch.facts.empty()) batch.facts = measured->facts;
        differ = differing_facts(batch.facts, measured->facts);
    }
    std::set<std::string> names;
    for (auto& name : names_in_chunk(batch.folder, end.task)) names.insert(std::move(name));
    for (auto& item : batch.items) {
        if (!names.contains(item.entry.name) || is_finished(item)) continue;
        const auto found = items.find(item.entry.name);
        const bool ended = found != items.end() && is_finished(found->second) &&
                           found->second.result.status != "interrupted";
        if (ended) {
            take_item(item, found->second, prefix, end.node);
            continue;
        }
        item.state = EntryState::not_run;
        item.result = ended_with(
            "not_run", end.reason.empty() ? fmt::format("task {} did not measure it", end.task)
                                          : fmt::format("task {} ended as {}: {}", end.task,
                                                        name_of(end.ending), end.reason));
    }
    return differ;
}

Result<void> run_slurm(Batch& batch, BatchFolder& folder, const SlurmBatch& settings,
                       const Environment& environment, const Clock& clock, TaskObserver& observer) {
    OPGAUGE_TRY_ASSIGN(const TaskPlan plan, read_task_plan(batch.folder));
    SlurmExecutor slurm(settings.slurm, environment, settings.patience);
    Merging merging(batch, folder, observer);
    for (auto& item : batch.items) {
        if (!is_finished(item)) item.state = EntryState::pending;
    }
    end_problems(batch);
    batch.state = "running";
    merging.save();
    TaskLoop loop(batch.folder, plan.tasks, slurm, settings.limits, clock, merging);
    OPGAUGE_TRY_ASSIGN(const LoopEnd ended, loop.run());
    for (const auto& end : ended.tasks) static_cast<void>(merge_task(batch, end));
    conclude(batch, ended.signal);
    batch.updated = utc_text(clock.wall_time());
    merging.save();
    return {};
}

}  // namespace opgauge
