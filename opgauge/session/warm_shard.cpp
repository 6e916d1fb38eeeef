// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warm_shard.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/session/run_status.h"
#include "opgauge/session/supervise_children.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace opgauge {
namespace {

constexpr std::chrono::seconds kStoreWait{10};

// The shard's word to the run that started it. A run that is gone takes the shard with it, so that
// a write that fails needs no care.
class Teller {
  public:
    explicit Teller(int fd) : fd_(fd) {}

    void tell(const char* type, Json message) {
        Json line = {{"type", type}, {"seq", ++seq_}};
        line.update(message);
        std::string bytes = to_line(line) + "\n";
        std::string_view left = bytes;
        while (!left.empty()) {
            const ssize_t written = ::write(fd_, left.data(), left.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return;
            left.remove_prefix(static_cast<std::size_t>(written));
        }
    }

  private:
    int fd_;
    unsigned long long seq_ = 0;
};

std::string name_of_case(const Row& row) {
    return printable(
        fmt::format("{} {} {}", row.work.operator_name, row.work.dtype, shapes_text(row.work)),
        200);
}

class Shard final : public RunObserver {
  public:
    Shard(const ShardJob& job, int channel_fd)
        : job_(job), share_(job.shards, job.overlap, job.costs), teller_(channel_fd) {}

    void on_case_begin(const Row& row, std::optional<int> planned) override {
        if (planned) {
            teller_.tell("planned", {{"test", printable(row.work.node, 200)}, {"cases", *planned}});
        }
        teller_.tell("begin", {{"id", row.case_id}, {"name", name_of_case(row)}});
    }
    void on_tuning(const std::string& kernel) override {
        teller_.tell("tuning", {{"kernel", printable(kernel, 100)}});
    }

    std::optional<std::string> choose(const Row& row, int test, int index) {
        const auto shards =
            share_.shards_of({row.case_id, test, index, elements_of(row.work.shapes)});
        if (std::find(shards.begin(), shards.end(), job_.shard) != shards.end()) {
            return std::nullopt;
        }
        teller_.tell("left",
                     {{"id", row.case_id}, {"name", name_of_case(row)}, {"owner", shards.front()}});
        return fmt::format("shard {} tunes it", shards.front());
    }

    Result<void> take_row(const Row& row) {
        // A case that was not timed is no valid row; what counts here is whether it ran.
        const bool ran = row.status != RowStatus::failed;
        teller_.tell("case", {{"id", row.case_id},
                              {"ok", ran},
                              {"reason", ran ? std::string() : printable(row.reason)},
                              {"seconds", row.seconds}});
        return {};
    }

    Teller& teller() { return teller_; }

  private:
    const ShardJob& job_;
    CaseShare share_;
    Teller teller_;
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
    const Outcome outcome =
        supervise_children(child_of(job, environment), job.limits, clock, conversation, shard);
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
    shard.teller().tell("ended", {{"status", status.status}, {"reason", status.reason}});
    return status.exit_code;
}

}  // namespace opgauge
