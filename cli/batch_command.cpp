// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/batch/batch.h"
#include "opgauge/batch/batch_folder.h"
#include "opgauge/batch/leases.h"
#include "opgauge/batch/local_executor.h"
#include "opgauge/batch/recover.h"
#include "opgauge/batch/schedule.h"
#include "opgauge/batch/setup.h"
#include "opgauge/batch/slurm_batch.h"
#include "opgauge/report/batch_report.h"
#include "opgauge/session/lost_case.h"
#include "opgauge/session/quarantine.h"

#include "cli/batch_parts.h"
#include "cli/batch_progress.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/option_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <system_error>

namespace opgauge::cli {

std::vector<std::string> batch_lane_options(const BatchCommandOptions& options) {
    std::vector<std::string> words;
    if (options.no_fork_server) words.emplace_back("--no-fork-server");
    if (options.no_quarantine) words.emplace_back("--no-quarantine");
    return words;
}

Result<std::vector<BatchEntry>> selected_entries(const BatchCommandOptions& options,
                                                 const PlanOptions& plan,
                                                 const Environment& environment) {
    const std::string corpus = plan.corpus.empty()
                                   ? environment.get_non_empty("OPGAUGE_CORPUS").value_or("native")
                                   : plan.corpus;
    OPGAUGE_TRY_ASSIGN(const auto provider,
                       open_corpus(corpus, "python3", find_installation(environment)));
    return select_entries(options.selection, *provider);
}

void report_batch(const Batch& batch, const BatchCommandOptions& options) {
    if (options.json) {
        fmt::print("{}", to_text(Json{{"folder", batch.folder.string()},
                                      {"state", batch.state},
                                      {"exit_code", batch.exit_code},
                                      {"counts", counts_of(batch)}}));
    } else {
        fmt::print("{}", batch_text(batch));
    }
    const bool left = batch.state == "interrupted" || batch.state == "no_device";
    if (left) {
        fmt::print(stderr, "opgauge: to go on: opgauge batch --resume {}\n", batch.folder.string());
    }
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kSelf = "/proc/self/exe";
constexpr std::size_t kLongestName = 200;

// A batch that can start: its devices are leased, its folder is locked.
struct Prepared {
    Batch batch;
    BatchSetup setup;
    std::unique_ptr<Leases> leases;
    BatchFolder folder;
};

Result<std::unique_ptr<Leases>> lease(const BatchSetup& setup, const BatchCommandOptions& options,
                                      const Environment& environment) {
    return take_leases(setup.leased, join(options.argv, " "),
                       std::chrono::seconds(options.wait_lease_s), environment);
}

Result<void> check(const BatchCommandOptions& options) {
    if (!options.run.plan.warmup.devices.empty()) {
        return fail(ErrorKind::usage,
                    "--warmup-devices is not for batch: its lanes use all devices already");
    }
    if (options.lanes_per_device > 1 && options.executor == "slurm") {
        return fail(ErrorKind::usage,
                    "--lanes-per-device is for this machine's devices; leave it out with "
                    "--executor slurm");
    }
    if (options.lanes_per_device > 1 && options.run.run.exclusive) {
        return fail(ErrorKind::usage,
                    "--lanes-per-device shares the devices that --exclusive wants alone; leave one "
                    "of them out");
    }
    return {};
}

// Only children of the bridge wait for their turn on a device.
Result<void> check_lanes(const Batch& batch, const BatchSetup& setup) {
    const bool native = get_string(setup.facts, "corpus.name") == "native";
    if (batch.lanes_per_device == 1 || !native) return {};
    return fail(ErrorKind::usage,
                "--lanes-per-device is for a corpus of pytest benchmarks (--corpus FOLDER); the "
                "native corpus takes one lane a device");
}

const BatchEntry& first_to_run(const std::vector<BatchItem>& items) {
    return std::find_if(items.begin(), items.end(),
                        [](const BatchItem& item) { return item.entry.problem.empty(); })
        ->entry;
}

Result<Prepared> prepare_new(const BatchCommandOptions& options, const Environment& environment,
                             const Clock& clock) {
    OPGAUGE_TRY_ASSIGN(const auto entries,
                       selected_entries(options, options.run.plan, environment));
    Batch batch;
    for (const auto& entry : entries) batch.items.emplace_back().entry = entry;
    OPGAUGE_TRY_ASSIGN(auto setup, find_setup(options.run.plan, first_to_run(batch.items),
                                              environment, find_installation(environment)));
    batch.lanes_per_device = std::max(1, options.lanes_per_device);
    OPGAUGE_TRY(check_lanes(batch, setup));
    // Before there is a folder: a batch that is refused leaves nothing.
    OPGAUGE_TRY_ASSIGN(auto leases, lease(setup, options, environment));
    const fs::path root = options.run.root.empty()
                              ? environment.get_non_empty("OPGAUGE_ROOT").value_or("runs")
                              : options.run.root;
    OPGAUGE_TRY_ASSIGN(auto folder,
                       BatchFolder::claim(root, options.run.run_dir, clock.wall_time()));
    std::error_code error;
    batch.folder = folder.path();
    batch.argv = options.argv;
    batch.working_directory = fs::current_path(error).string();
    batch.run_options = options.run_options;
    batch.lane_options = batch_lane_options(options);
    batch.device_request = options.run.plan.devices;
    batch.selection = to_json(options.selection);
    batch.facts = setup.facts;
    batch.started = utc_text(clock.wall_time());
    assign_run_dirs(batch.items);
    return Prepared{std::move(batch), std::move(setup), std::move(leases), std::move(folder)};
}

tl::unexpected<Error> other_batch(const fs::path& folder, const std::string& what) {
    return fail(ErrorKind::refused, fmt::format("--resume {}: {}; it was left untouched, start a "
                                                "new batch",
                                                printable(folder.string()), what));
}

// What is given beside --resume must be what the batch was started with.
Result<void> check_same(const BatchCommandOptions& options, const Batch& batch,
                        const PlanOptions& plan, const Environment& environment) {
    if (!options.run_options.empty() && options.run_options != batch.run_options) {
        return other_batch(batch.folder, fmt::format("its options are '{}', not '{}'",
                                                     join(batch.run_options, " "),
                                                     join(options.run_options, " ")));
    }
    if (asks_for_nothing(options.selection)) return {};
    OPGAUGE_TRY_ASSIGN(const auto entries, selected_entries(options, plan, environment));
    const bool same =
        std::equal(entries.begin(), entries.end(), batch.items.begin(), batch.items.end(),
                   [](const BatchEntry& a, const BatchItem& b) { return a.name == b.entry.name; });
    if (same) return {};
    return other_batch(batch.folder,
                       fmt::format("it selects {}, not these {}",
                                   counted(batch.items.size(), "operator"), entries.size()));
}

// Relative paths in its options are those of the folder where it was started.
Result<void> go_where_it_was(const Batch& batch) {
    std::error_code error;
    if (!batch.working_directory.empty()) fs::current_path(batch.working_directory, error);
    if (!error) return {};
    return fail(ErrorKind::environment,
                fmt::format("cannot go to {}, where the batch was started: "
                            "{}",
                            printable(batch.working_directory), error.message()));
}

Result<Prepared> prepare_resumed(const BatchCommandOptions& options,
                                 const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(auto batch, read_batch(options.resume));
    OPGAUGE_TRY_ASSIGN(auto folder, BatchFolder::open(batch.folder));
    // Read again: until it was locked, another could have changed it.
    OPGAUGE_TRY_ASSIGN(batch, read_batch(batch.folder));
    if (std::none_of(batch.items.begin(), batch.items.end(),
                     [](const BatchItem& item) { return item.entry.problem.empty(); })) {
        return other_batch(batch.folder, "it has nothing that could be run");
    }
    OPGAUGE_TRY(go_where_it_was(batch));
    OPGAUGE_TRY_ASSIGN(RunCommandOptions run, parse_run_options(batch.run_options));
    OPGAUGE_TRY(check_same(options, batch, run.plan, environment));
    const std::string& given = options.run.plan.devices;
    run.plan.devices = given.empty() ? batch.device_request : given;
    OPGAUGE_TRY_ASSIGN(auto setup, find_setup(run.plan, first_to_run(batch.items), environment,
                                              find_installation(environment)));
    const auto differ = differing_facts(batch.facts, setup.facts);
    if (!differ.empty()) return other_batch(batch.folder, join(differ, "; "));
    if (options.lanes_per_device > 0) batch.lanes_per_device = options.lanes_per_device;
    OPGAUGE_TRY(check_lanes(batch, setup));
    OPGAUGE_TRY_ASSIGN(auto leases, lease(setup, options, environment));
    for (auto& word : batch_lane_options(options)) {
        auto& words = batch.lane_options;
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    prepare_to_go_on(batch);
    return Prepared{std::move(batch), std::move(setup), std::move(leases), std::move(folder)};
}

Json to_json(const QuarantinedCase& one) {
    return {{"case_id", one.case_id}, {"operator", one.operator_name},
            {"dtype", one.dtype},     {"shapes", one.shapes},
            {"kind", one.kind},       {"message", one.message},
            {"date", one.date}};
}

Result<int> quarantine_command(const BatchCommandOptions& options, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const auto setups, list_quarantine(environment));
    if (options.json) {
        Json json = Json::object();
        for (const auto& [setup, cases] : setups) {
            for (const auto& one : cases) json[setup].push_back(to_json(one));
        }
        fmt::print("{}", to_text(Json{{"setups", json}}));
        return ok;
    }
    if (setups.empty()) fmt::print("no case is quarantined\n");
    for (const auto& [setup, cases] : setups) {
        fmt::print("setup {}\n", printable(setup));
        for (const auto& one : cases) {
            const std::string name =
                fmt::format("{} {} {}", one.operator_name, one.dtype, one.shapes);
            fmt::print("  {}  {}  {}: {}\n", printable(one.date), printable(name, kLongestName),
                       lost_words(one.kind), printable(one.message));
        }
    }
    return ok;
}

LocalSettings settings_of(const BatchCommandOptions& options, const Environment& environment,
                          std::chrono::steady_clock::time_point began) {
    LocalSettings settings;
    settings.program = environment.get_non_empty("OPGAUGE_LANE_PROGRAM").value_or(kSelf);
    settings.environment = environment;
    settings.silence = std::chrono::seconds(options.lane_silence_s);
    settings.began = began;
    return settings;
}

}  // namespace

// The command is the flow: select, lease the devices, claim the folder, run, report.
Result<int> batch_command(const BatchCommandOptions& options, const Environment& caller) {
    if (options.action == "status") return batch_status_command(options);
    if (options.quarantine) return quarantine_command(options, caller);
    OPGAUGE_TRY(check(options));
    Environment environment = caller;
    for (const char* name : {"OP", "OP_FILE", "TEST_NODE", "PARALLEL_WARMUP_GPUS"}) {
        environment.unset(name);
    }
    if (options.executor == "slurm" || is_task_batch(options.resume)) {
        return slurm_batch_command(options, environment);
    }
    const SystemClock clock;
    const auto began = clock.now();
    OPGAUGE_TRY_ASSIGN(auto prepared, options.resume.empty()
                                          ? prepare_new(options, environment, clock)
                                          : prepare_resumed(options, environment));
    Batch& batch = prepared.batch;
    batch.backend = prepared.setup.backend;
    batch.devices = prepared.setup.devices;
    EntryCosts costs = EntryCosts::open(prepared.setup.cost_facts, environment);
    expect(batch.items, costs.seconds());
    BatchProgress progress(stderr, clock);
    OPGAUGE_TRY(run_local(batch, prepared.folder, costs, settings_of(options, environment, began),
                          clock, progress));
    progress.finish();
    std::fflush(stderr);
    report_batch(batch, options);
    return batch.exit_code;
}

}  // namespace opgauge::cli
