// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/batch_lane.h"

#include "opgauge/base/text.h"
#include "opgauge/plan/planner.h"
#include "opgauge/run/parent_channel.h"
#include "opgauge/run/signals.h"
#include "opgauge/session/case_name.h"
#include "opgauge/session/device_health.h"
#include "opgauge/session/lane_children.h"
#include "opgauge/session/time_account.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {
namespace {

// An operator of the batch, as its answer to `ready` names it.
struct LaneJob {
    int index = 0;
    NodeRequest request;
    std::filesystem::path run_dir;
    bool resume = false;
};

Result<LaneJob> job_of(const Json& answer) {
    LaneJob job;
    job.index = get_optional<int>(answer, "index").value_or(0);
    job.request.operator_ = get_string(answer, "operator");
    job.request.file = get_string(answer, "file");
    job.request.node = get_string(answer, "node");
    job.run_dir = get_string(answer, "run_dir");
    job.resume = get_optional<bool>(answer, "resume").value_or(false);
    if (get_string(answer, "type") != "run" || !job.run_dir.is_absolute() ||
        (job.request.operator_.empty() && job.request.node.empty())) {
        return fail(ErrorKind::failed, "the batch's answer names no operator and folder to run: " +
                                           printable(to_line(answer), 200));
    }
    return job;
}

// What a lane shows of a run while it goes on.
class Reporter final : public RunObserver {
  public:
    explicit Reporter(ParentChannel& batch) : batch_(batch) {}

    void on_phase(const std::string& text) override { batch_.tell("phase", {{"text", text}}); }
    void on_tuning(const std::string& kernel) override {
        const std::string text = kernel.empty() ? "measuring" : "tuning " + printable(kernel, 100);
        if (text != tuning_) batch_.tell("phase", {{"text", text}});
        tuning_ = text;
    }
    void on_case_begin(const Row& row, std::optional<int> planned) override {
        batch_.tell(
            "case",
            {{"name", case_name(row)}, {"index", row.index}, {"planned", optional_json(planned)}});
    }
    void on_row(const Row& row) override {
        batch_.tell("row", {{"status", name_of(row.status)}, {"flags", row.flags}});
    }

  private:
    ParentChannel& batch_;
    std::string tuning_ = "measuring";
};

Json outcome_json(const Outcome& outcome) {
    const auto* exited = std::get_if<Exited>(&outcome);
    const auto* signaled = std::get_if<Signaled>(&outcome);
    return {{"exit", exited != nullptr ? Json(exited->code) : Json(nullptr)},
            {"signal", signaled != nullptr ? Json(signaled->signal) : Json(nullptr)}};
}

// The members of `ended` for an operator that has left nothing.
Json ended_without_run(const LaneJob& job, const std::string& status, const std::string& reason) {
    return {{"index", job.index},
            {"status", status},
            {"reason", reason},
            {"exit_code", 1},
            {"outcome", {{"exit", nullptr}, {"signal", nullptr}}},
            {"seconds", 0.0},
            {"rows", {{"ok", 0}, {"failed", 0}, {"invalid", 0}, {"skipped", 0}, {"flagged", 0}}},
            {"geomean_speedup", nullptr},
            {"geomean_n", 0},
            {"markers", Json::object()},
            {"tuning", ""},
            {"timer", ""},
            {"backend", ""},
            {"device", ""},
            {"setup_id", ""},
            {"health", nullptr}};
}

void add_plan(Json& ended, const Plan& plan) {
    ended["tuning"] = plan.tune.value;
    ended["timer"] = plan.timer.value;
    ended["backend"] = plan.backend.value;
    ended["device"] = plan.device.token;
}

void add_run(Json& ended, const RunSummary& summary) {
    ended["status"] = summary.status;
    ended["reason"] = summary.reason;
    ended["exit_code"] = summary.exit_code;
    ended["outcome"] = outcome_json(summary.outcome);
    ended["setup_id"] = summary.setup_id;
    for (const char* name : {"seconds", "rows", "geomean_speedup", "geomean_n", "markers"}) {
        ended[name] = summary.facts.value(name, Json(nullptr));
    }
}

// Empty: there may be one.
std::string why_no_fork_server(const LaneOptions& options, const Provider& provider) {
    if (!options.fork_server) return "--no-fork-server";
    return provider.name() == "native" ? "the native corpus needs none" : "";
}

class Lane {
  public:
    Lane(const LaneOptions& options, Planner planner, Environment environment, const Clock& clock)
        : options_(options),
          planner_(std::move(planner)),
          environment_(std::move(environment)),
          clock_(clock),
          batch_(options.channel_fd),
          children_(why_no_fork_server(options, planner_.provider()),
                    [this](const std::string& text) {
                        batch_.tell("phase", {{"text", text}});
                    }) {}

    Result<int> work();

  private:
    Json run(const LaneJob& job, TimeAccount& time);
    Result<RunSummary> measure(const LaneJob& job, const Plan& plan);
    void open_health(const Plan& plan);

    const LaneOptions& options_;
    Planner planner_;
    Environment environment_;
    const Clock& clock_;
    ParentChannel batch_;
    PythonProbe python_;
    LaneChildren children_;
    std::optional<DeviceHealth> health_;
};

Result<int> Lane::work() {
    while (SignalGuard::count() == 0) {
        OPGAUGE_TRY_ASSIGN(const auto answer,
                           batch_.ask("ready", {{"fork_server", children_.fork_server()}}));
        if (!answer || get_string(*answer, "type") == "end") break;
        OPGAUGE_TRY_ASSIGN(const LaneJob job, job_of(*answer));
        TimeAccount time(clock_, TimePart::start);
        Json ended = run(job, time);
        ended["time"] = to_json(time.parts());
        batch_.tell("ended", ended);
    }
    return SignalGuard::count() > 0 ? 128 + SignalGuard::received() : 0;
}

// `time` is told what the run's own account says; what is left is before and behind the run.
Json Lane::run(const LaneJob& job, TimeAccount& time) {
    // A name that the corpus does not know is the batch's to report, not the lane's end.
    if (const auto nodes = planner_.provider().resolve(job.request); !nodes) {
        return ended_without_run(job, "no_tests", nodes.error().message);
    }
    if (options_.run.exclusive) planner_.forget_devices();
    const auto plan = planner_.plan(job.request);
    if (!plan) return ended_without_run(job, "failed", plan.error().message);
    open_health(*plan);
    health_->note_before();
    const auto begin = clock_.now();
    const auto summary = measure(job, *plan);
    Json ended = ended_without_run(job, "failed", summary ? "" : summary.error().message);
    ended["seconds"] = std::chrono::duration<double>(clock_.now() - begin).count();
    add_plan(ended, *plan);
    if (summary) {
        add_run(ended, *summary);
        const auto said = time_parts_in(summary->facts.value("time", Json(nullptr)));
        time.take(said.value_or(TimeParts()));
    }
    time.turn_to(TimePart::end);
    ended["health"] = to_json(health_->look());
    return ended;
}

Result<RunSummary> Lane::measure(const LaneJob& job, const Plan& plan) {
    RunOptions run = options_.run;
    run.run_dir = job.run_dir;
    run.resume = job.resume;
    run.quarantine = options_.quarantine ? Quarantine::Use::skip : Quarantine::Use::note;
    run.python = &python_;
    run.source = children_.source(plan, planner_.provider(), python_, environment_);
    Reporter reporter(batch_);
    return run_plan(plan, planner_.provider(), run, environment_, clock_, reporter);
}

// A lane has one device; which one is known with the first plan.
void Lane::open_health(const Plan& plan) {
    if (health_) return;
    const auto backend = find_backend(plan.backend.value);
    if (!backend) return void(health_.emplace(tl::unexpected<Error>(backend.error()), clock_));
    health_.emplace((*backend)->open_telemetry(plan.device.device, environment_), clock_,
                    DeviceHealth::kSettle, options_.run.device_lanes);
}

}  // namespace

Result<int> run_batch_lane(const LaneOptions& options, const Environment& environment,
                           const Installation& installation, const Clock& clock) {
    Environment own = environment;
    // They name one operator, for `run`.
    for (const char* name : {"OP", "OP_FILE", "TEST_NODE"}) own.unset(name);
    OPGAUGE_TRY_ASSIGN(Planner planner, Planner::open(options.plan, own, installation));
    return Lane(options, std::move(planner), std::move(own), clock).work();
}

}  // namespace opgauge
