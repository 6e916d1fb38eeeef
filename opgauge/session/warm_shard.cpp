// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warm_shard.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/run/parent_channel.h"
#include "opgauge/session/case_name.h"
#include "opgauge/session/run_status.h"
#include "opgauge/session/supervise_children.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr std::chrono::seconds kStoreWait{10};

class Shard final : public RunObserver {
  public:
    Shard(const ShardJob& job, int channel_fd)
        : job_(job), share_(job.shards, job.overlap, job.costs), run_(channel_fd) {}

    void on_case_begin(const Row& row, std::optional<int> planned) override {
        if (planned) {
            run_.tell("planned", {{"test", printable(row.work.node, 200)}, {"cases", *planned}});
        }
        run_.tell("begin", {{"id", row.case_id}, {"name", case_name(row)}});
    }
    void on_tuning(const std::string& kernel) override {
        run_.tell("tuning", {{"kernel", printable(kernel, 100)}});
    }

    std::optional<std::string> choose(const Row& row, int test, int index) {
        const auto shards =
            share_.shards_of({row.case_id, test, index, elements_of(row.work.shapes)});
        if (std::find(shards.begin(), shards.end(), job_.shard) != shards.end()) {
            return std::nullopt;
        }
        run_.tell("left",
                  {{"id", row.case_id}, {"name", case_name(row)}, {"owner", shards.front()}});
        return fmt::format("shard {} tunes it", shards.front());
    }

    Result<void> take_row(const Row& row) {
        // A case that was not timed is no valid row; what counts here is whether it ran.
        const bool ran = row.status != RowStatus::failed;
        run_.tell("case", {{"id", row.case_id},
                           {"ok", ran},
                           {"reason", ran ? std::string() : printable(row.reason)},
                           {"seconds", row.seconds}});
        return {};
    }

    ParentChannel& run() { return run_; }

  private:
    const ShardJob& job_;
    CaseShare share_;
    ParentChannel run_;  // that started the shard
};

JobSettings settings_of(const ShardJob& job, Shard& shard) {
    JobSettings settings;
    settings.backend = job.backend;
    settings.device = job.device;
    settings.timer = job.timer;
    settings.timer_settings = job.timer_settings;
    settings.check_outputs = false;
    settings.compile_jobs = job.compile_jobs;
    settings.overlap = job.overlap_compiling;
    settings.tune_timing = job.tune_timing;
    settings.select = job.select;
    settings.tune_only = [&shard](const Row& row, int test, int index) {
        return shard.choose(row, test, index);
    };
    return settings;
}

ChildSpec child_of(const ShardJob& job, const Environment& environment) {
    ChildSpec spec;
    spec.argv = job.argv;
    spec.environment = environment.to_strings();
    spec.working_directory = job.working_directory;
    spec.log_file = job.folder / RunFiles::kLog;
    spec.events_file = job.folder / RunFiles::kEvents;
    return spec;
}

// A test that fails leaves its cases to the run; the shard has all the same done what it could.
RunStatus judge_shard(const Outcome& outcome, const ConversationResult& said) {
    const bool broken = said.guard_refusal || said.store_error || said.protocol_error;
    if (std::holds_alternative<Exited>(outcome) && said.said_bye && !broken) {
        return {"finished", "", 0};
    }
    return judge_run(outcome, said);
}

}  // namespace

Result<int> run_warm_shard(const ShardJob& job, int channel_fd, const Environment& environment,
                           const Clock& clock) {
    const auto begin = clock.now();
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(job.folder / RunFiles::kTuning,
                                                     DatabaseAccess::create, kStoreWait));
    TuningSettings tuning;
    tuning.mode = TuningMode::record;
    tuning.known = scope_from_json(job.scope);
    TuningDesk desk(std::move(tuning), std::move(store), std::nullopt);
    Shard shard(job, channel_fd);
    DeviceWatch watch(nullptr, Heat::burst, clock);
    const auto row_sink = [&shard](const Row& row, const std::optional<SideSamples>&,
                                   const std::optional<SideSamples>&) {
        return shard.take_row(row);
    };
    Conversation conversation(
        settings_of(job, shard), {}, watch, clock, shard, row_sink, [](const Json&) {}, &desk);
    const Outcome outcome = supervise_children(child_of(job, environment), job.limits, clock,
                                               conversation, shard, nullptr);
    const ConversationResult& said = conversation.result();
    const RunStatus status = judge_shard(outcome, said);
    Json facts = {{"schema_version", 1},
                  {"shard", job.shard},
                  {"status", status.status},
                  {"reason", status.reason},
                  {"outcome", to_text(outcome)},
                  {"seconds", std::chrono::duration<double>(clock.now() - begin).count()},
                  {"log", said.log},
                  {"tuning", desk.tuning_json()}};
    OPGAUGE_TRY(write_file_atomically(job.folder / RunFiles::kStatus, to_text(facts)));
    shard.run().tell("ended", {{"status", status.status}, {"reason", status.reason}});
    return status.exit_code;
}

}  // namespace opgauge
