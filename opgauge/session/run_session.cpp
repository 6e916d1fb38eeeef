// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/run_session.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/plan/cache.h"
#include "opgauge/plan/capabilities.h"
#include "opgauge/record/caliber.h"
#include "opgauge/record/digests.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/record/result_writer.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/session/conformance.h"
#include "opgauge/session/exclusive.h"
#include "opgauge/session/identity.h"
#include "opgauge/session/python_probe.h"
#include "opgauge/session/rerun.h"
#include "opgauge/session/resume.h"
#include "opgauge/session/run_setup.h"
#include "opgauge/session/run_status.h"
#include "opgauge/session/stack_dump.h"
#include "opgauge/session/supervise_children.h"
#include "opgauge/session/test_facts.h"
#include "opgauge/session/tuning_costs.h"
#include "opgauge/session/tuning_setup.h"
#include "opgauge/session/warmup.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

// Everything about one started run that its steps share.
struct RunInProgress {
    const Plan& plan;
    const RunOptions& options;
    const Clock& clock;
    std::filesystem::path directory;
    ResultWriter writer;
    Json identity;
    Environment environment;
    const Environment& caller;
    TimeAccount time;
    TuningDesk desk;
    std::unique_ptr<MeasuringSection> section;
    std::unique_ptr<HostTurn> turn;
    KeptRun kept;  // of the run that is resumed
    std::optional<Warmup> warmup = std::nullopt;
};

Json warmup_status(const RunInProgress& run) {
    if (!run.warmup) return nullptr;
    Json status = to_json(run.warmup->report);
    status["run"] = run.desk.warmed_json();
    return status;
}

// A child that ended before its first test has said why only in its own output.
std::string last_words(const std::filesystem::path& log) {
    const auto text = read_file(log);
    if (!text) return {};
    const auto lines = lines_of(trim(*text));
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (lower(*line).find("error") != std::string::npos) return printable(trim(*line));
    }
    return lines.empty() ? std::string() : printable(trim(lines.back()));
}

// For the next warm-up of these cases; a run that ended early has not seen them all.
void keep_costs(const RunInProgress& run, const ConversationResult& said) {
    if (run.plan.tune.value != "record" || !said.said_bye) return;
    CaseCosts costs = said.tuning_seconds;
    if (run.warmup) {
        for (const auto& [id, seconds] : run.warmup->costs) costs[id] = seconds;
    }
    if (!costs.empty()) write_tuning_costs(tuning_costs_file(run.plan, run.caller), costs);
}

// The status comes after all that it tells of: a directory without it is incomplete. The digests
// are of the finished files, it too.
Result<RunSummary> finish(RunInProgress& run, const Outcome& outcome, ConversationResult said) {
    if (const auto kept = run.desk.finish(); !kept) said.store_error = kept.error().message;
    complete_tuning(run.identity, run.desk);
    keep_costs(run, said);
    if (run.warmup) complete_warmup(run.identity, run.warmup->report, run.desk);
    OPGAUGE_TRY(run.writer.write_identity(run.identity));
    OPGAUGE_TRY_ASSIGN(RecordedRun recorded, read_run(run.directory));
    keep_tests(run.plan, said.tests, recorded.rows, run.caller, run.clock);
    RunStatus status = judge_run(outcome, said);
    if (status.status == "failed" && said.tests.empty() && !said.guard_refusal) {
        const std::string words = last_words(run.directory / RunFiles::kLog);
        if (!words.empty()) status.reason += "; its last words: " + words;
    }
    const TimeParts time = run.time.parts();
    recorded.status = status_json(status, outcome, said, recorded, time.sum());
    (*recorded.status)["time"] = to_json(time);
    (*recorded.status)["tuning"] = run.desk.tuning_json();
    (*recorded.status)["replay"] = run.desk.replay_json();
    (*recorded.status)["warmup"] = warmup_status(run);
    if (run.options.resume) (*recorded.status)["kept_rows"] = run.kept.rows.size();
    OPGAUGE_TRY(run.writer.write_text(RunFiles::kLatencyText, latency_text(recorded)));
    OPGAUGE_TRY(run.writer.write_text(RunFiles::kLatencyCsv, latency_csv(recorded)));
    OPGAUGE_TRY(run.writer.write_status(*recorded.status));
    OPGAUGE_TRY(write_digests(run.directory));
    RunSummary summary;
    summary.run_dir = run.directory;
    summary.status = status.status;
    summary.reason = status.reason;
    summary.exit_code = status.exit_code;
    summary.outcome = outcome;
    summary.setup_id = get_string(run.identity, "setup_id");
    summary.facts = std::move(*recorded.status);
    summary.warnings = said.log;
    if (run.warmup) summary.tuning = warmup_lines(run.warmup->report);
    for (auto& line : run.desk.lines()) summary.tuning.push_back(std::move(line));
    return summary;
}

// Which cases cannot be captured is a property of the setup, not of the run.
CaptureMemory capture_memory(const RunInProgress& run) {
    if (run.plan.timer.value != "graph") return {};
    const auto file = cache_folder(run.caller) / "captures" / (setup_id(run.identity) + ".jsonl");
    const auto known =
        run.options.retry_capture ? CaptureMemory::Known::forget : CaptureMemory::Known::keep;
    auto memory = CaptureMemory::open(file, known);
    return memory ? std::move(*memory) : CaptureMemory{};
}

TimerChecks timer_checks(RunInProgress& run) {
    const Json setup =
        conformance_setup(run.plan.backend.value, run.plan.device.device, run.plan.discovery.driver,
                          run.identity["software"]["torch"]);
    return open_timer_checks(run.plan.timer.value, setup, run.caller, run.clock, run.identity);
}

// A device that cannot be read is measured all the same; its rows then have no clocks.
std::unique_ptr<Telemetry> open_telemetry(RunInProgress& run) {
    const auto backend = find_backend(run.plan.backend.value);
    if (!backend) return nullptr;
    auto telemetry = (*backend)->open_telemetry(run.plan.device.device, run.caller);
    if (telemetry) return std::move(*telemetry);
    run.identity["unknown"]["clocks"] = telemetry.error().message;
    return nullptr;
}

ChildSpec child_of(const RunInProgress& run) {
    ChildSpec spec;
    spec.argv = run.plan.command.argv;
    spec.environment = run.environment.to_strings();
    spec.working_directory = run.plan.command.working_directory;
    spec.log_file = run.directory / RunFiles::kLog;
    spec.events_file = run.directory / RunFiles::kEvents;
    if (run.plan.corpus_name != "native") {
        spec.dump_stacks = py_spy(run.environment, spec.log_file);
        spec.dump_signal = SIGUSR1;
    }
    return spec;
}

Result<RunSummary> measure(RunInProgress& run, RunObserver& observer) {
    run.time.turn_to(TimePart::start);
    const auto row_sink = [&run](const Row& row, const std::optional<SideSamples>& base,
                                 const std::optional<SideSamples>& candidate) {
        Row stamped = row;
        const auto& side = row.candidate ? row.candidate : row.base;
        if (side) {
            stamped.caliber_id =
                caliber_id(run.identity, side->timer, side->timer_settings, row.winners_digest);
        }
        return run.writer.append(stamped, base, candidate);
    };
    const auto device_sink = [&run](const Json& device) {
        complete_identity(run.identity, device, run.plan.timer.value);
        // A failure shows again when the identity is written at the end.
        static_cast<void>(run.writer.write_identity(run.identity));
    };
    DeviceWatch watch(open_telemetry(run),
                      run.plan.heat == "sustained" ? Heat::sustained : Heat::burst, run.clock,
                      run.options.device_lanes);
    watch.note_neighbours();
    JobSettings job = job_settings(run.plan, run.options);
    job.timer_checks = timer_checks(run);
    job.kept = run.kept;
    Quarantine quarantine =
        open_quarantine(run.caller, setup_id(run.identity), run.options.quarantine);
    job.quarantine = &quarantine;
    job.section = run.section.get();
    job.turn = run.turn.get();
    job.time = &run.time;
    Conversation conversation(std::move(job), capture_memory(run), watch, run.clock, observer,
                              row_sink, device_sink, &run.desk);
    const Outcome outcome = supervise_children(child_of(run), run.options.limits, run.clock,
                                               conversation, observer, run.options.source);
    return finish(run, outcome, conversation.result());
}

// Tunes ahead where the plan says so. What it found is used by the run that follows, unless it was
// interrupted.
Result<RunSummary> warm_up_and_measure(RunInProgress& run, RunObserver& observer) {
    if (run.plan.warmup.shards.empty()) return measure(run, observer);
    run.time.turn_to(TimePart::warmup);
    const WarmupInput input{run.plan, run.options, run.environment, run.directory,
                            read_tuning_costs(tuning_costs_file(run.plan, run.caller))};
    if (run.options.resume) {
        OPGAUGE_TRY_ASSIGN(auto keys, earlier_warmup(input));
        if (keys) {
            run.desk.use_warmed(std::move(*keys));
            return measure(run, observer);
        }
    }
    OPGAUGE_TRY_ASSIGN(run.warmup, warm_up(input, run.clock, observer));
    if (const auto& interrupted = run.warmup->interrupted) return finish(run, *interrupted, {});
    if (run.warmup->keys) run.desk.use_warmed(std::move(*run.warmup->keys));
    return measure(run, observer);
}

}  // namespace

Result<RunSummary> run_plan(const Plan& plan, Provider& provider, const RunOptions& options,
                            const Environment& environment, const Clock& clock,
                            RunObserver& observer) {
    if (options.exclusive) OPGAUGE_TRY(check_exclusive(plan));
    const Environment child = child_environment(plan, environment, options);
    OPGAUGE_TRY_ASSIGN(std::optional<Replay> source, open_source(plan, child));
    std::optional<PythonFacts> python;
    if (provider.name() != "native") {
        PythonProbe once;
        PythonProbe& probe = options.python != nullptr ? *options.python : once;
        OPGAUGE_TRY_ASSIGN(python, probe.ask(plan.command.argv.front(), child));
        OPGAUGE_TRY(require_packages(*python));
    }
    // Without locks it measures all the same, and says that others may have disturbed it.
    auto section = open_measuring_section(options.measuring, environment);
    std::unique_ptr<HostTurn> turn;
    if (options.device_lanes > 1) {
        OPGAUGE_TRY_ASSIGN(turn, open_device_turn(plan.device.device, environment));
    }
    const CorpusVersion version = provider.version(environment);
    IdentityInput input{plan,
                        version,
                        python,
                        source,
                        options.stopping,
                        options.measuring,
                        options.device_lanes,
                        section ? "" : section.error().message,
                        child,
                        options.argv,
                        "",
                        utc_text(clock.wall_time()),
                        options.tool_version};
    OPGAUGE_TRY(check_same_setup(options.same_setup_as, make_identity(input)));
    OPGAUGE_TRY(write_shapes(plan));
    OPGAUGE_TRY_ASSIGN(const std::filesystem::path directory, claim_folder(plan, options, clock));
    input.run_id = directory.filename().string();
    Json identity = make_identity(input);
    KeptRun kept;
    if (options.resume) {
        OPGAUGE_TRY_ASSIGN(kept, resume_run(directory, identity));
    }
    OPGAUGE_TRY_ASSIGN(ResultWriter writer, ResultWriter::open(directory));
    OPGAUGE_TRY_ASSIGN(TuningDesk desk, open_desk(plan, child, std::move(source), directory));
    if (options.resume) OPGAUGE_TRY(desk.take_up());
    RunInProgress run{plan,
                      options,
                      clock,
                      directory,
                      std::move(writer),
                      identity,
                      child,
                      environment,
                      TimeAccount(clock, TimePart::start),
                      std::move(desk),
                      section ? std::move(*section) : nullptr,
                      std::move(turn),
                      std::move(kept)};
    Plan executed = plan;
    if (python) narrow_to_modules(executed, python->modules, python->executable);
    OPGAUGE_TRY(run.writer.write_plan(to_json(executed)));
    OPGAUGE_TRY(run.writer.write_identity(run.identity));
    return warm_up_and_measure(run, observer);
}

}  // namespace opgauge
