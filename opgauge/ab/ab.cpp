// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/ab.h"

#include "opgauge/ab/arm_runs.h"
#include "opgauge/ab/worktrees.h"
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/report/comparison_report.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

const char* folder_of(AbArm arm) {
    if (arm == AbArm::a) return "a";
    return arm == AbArm::b ? "b" : "aa";
}

// Variables that the arms set differently.
std::vector<std::string> switches_of(const AbOptions& options, const Environment& caller) {
    std::set<std::string> names;
    for (const auto* arm : {&options.a, &options.b}) {
        for (const auto& [name, value] : arm->environment) names.insert(name);
    }
    const auto value_in = [&](const AbArmOptions& arm, const std::string& name) {
        const auto found = arm.environment.find(name);
        return found == arm.environment.end() ? caller.get(name) : std::optional(found->second);
    };
    std::vector<std::string> switches;
    for (const auto& name : names) {
        if (value_in(options.a, name) != value_in(options.b, name)) switches.push_back(name);
    }
    return switches;
}

Result<void> check_difference(const AbOptions& options, const Environment& caller) {
    const bool environment = !options.a.environment.empty() || !options.b.environment.empty();
    const bool corpora = !options.a.corpus.empty() || !options.b.corpus.empty();
    const bool revisions = !options.a.revision.empty() || !options.b.revision.empty();
    const auto wrong = [](std::string_view what) {
        return fail(ErrorKind::usage, fmt::format("opgauge ab: {}", what));
    };
    if (options.operators.empty()) return wrong("name at least one operator");
    if (environment + corpora + revisions != 1) {
        return wrong(
            "name one difference: --a and --b with KEY=VALUE, --corpus-a and --corpus-b, "
            "or --rev-a and --rev-b");
    }
    if (corpora && (options.a.corpus.empty() || options.b.corpus.empty())) {
        return wrong("--corpus-a and --corpus-b belong together; give both");
    }
    if (revisions && (options.a.revision.empty() || options.b.revision.empty())) {
        return wrong("--rev-a and --rev-b belong together; give both");
    }
    if (environment && switches_of(options, caller).empty()) {
        return wrong("--a and --b set the same values, so there is nothing to compare");
    }
    return {};
}

// A package of the corpus that is installed elsewhere would else be imported in both arms.
Environment with_own_package(Environment environment, const std::string& corpus) {
    std::error_code error;
    const fs::path source = fs::path(corpus) / "src";
    if (fs::is_directory(source, error)) {
        environment.set("PYTHONPATH",
                        environment.with_before("PYTHONPATH", fs::absolute(source).string()));
    }
    return environment;
}

class Experiment {
  public:
    Experiment(const AbOptions& options, Environment environment, const Installation& installation,
               const Clock& clock, RunObserver& observer)
        : options_(options),
          environment_(std::move(environment)),
          installation_(installation),
          clock_(clock),
          observer_(observer) {}

    Result<AbSummary> work();

  private:
    Result<void> claim();
    Result<void> open_arms();
    Result<void> check_devices();
    Result<std::string> corpus_for(const AbArmOptions& arm, const char* name);
    Result<std::string> recorded_run(const std::string& name);
    // What both arms replay, or that they do not.
    Result<void> settle_winners();
    Result<void> measure_all();
    // Whether to go on.
    Result<bool> measure_round(std::size_t number, const std::array<AbArm, 3>& round);
    Result<bool> take(Result<RunSummary> run, AbArm arm, std::size_t number,
                      const std::string& name);
    Result<void> look_at(const Look& look);
    bool was_refused(const Look& look);
    Result<void> write();
    Json facts() const;
    bool was_interrupted();
    fs::path folder_for(const fs::path& parent, const std::string& name) const;
    ArmRuns& runs_of(AbArm arm) { return arm == AbArm::b ? *b_ : *a_; }

    const AbOptions& options_;
    Environment environment_;
    const Installation& installation_;
    const Clock& clock_;
    RunObserver& observer_;
    AbSummary summary_;
    std::unique_ptr<Worktrees> worktrees_;
    std::unique_ptr<ArmRuns> a_;
    std::unique_ptr<ArmRuns> b_;
    AbQuestion question_;
    Json runs_ = Json::array();
    Json commits_ = Json::object();
    Json order_ = Json::array();
    std::string winners_ = "none: nothing is tuned";
    std::size_t done_ = 0;
    Look last_look_{0, 1};
};

Result<AbSummary> Experiment::work() {
    OPGAUGE_TRY(check_difference(options_, environment_));
    OPGAUGE_TRY(claim());
    summary_.status = "running";
    auto ready = open_arms();
    if (ready) ready = write();
    if (ready) ready = settle_winners();
    if (!ready) {
        // Whoever finds the folder must see why it is empty.
        summary_.status = "failed";
        summary_.reason = ready.error().message;
        (void)write();
        return tl::unexpected<Error>(ready.error());
    }
    if (summary_.status == "running") OPGAUGE_TRY(measure_all());
    OPGAUGE_TRY(write());
    return std::move(summary_);
}

Result<void> Experiment::claim() {
    if (options_.run.run_dir.empty()) {
        OPGAUGE_TRY_ASSIGN(summary_.folder,
                           claim_run_dir(options_.run.root, "ab", clock_.wall_time()));
    } else {
        OPGAUGE_TRY_ASSIGN(summary_.folder, claim_exact_run_dir(options_.run.run_dir));
    }
    summary_.folder = fs::absolute(summary_.folder);
    return {};
}

Result<std::string> Experiment::corpus_for(const AbArmOptions& arm, const char* name) {
    if (!arm.corpus.empty()) return arm.corpus;
    const std::string common = options_.plan.corpus.empty()
                                   ? environment_.get_non_empty("OPGAUGE_CORPUS").value_or("")
                                   : options_.plan.corpus;
    if (arm.revision.empty()) return options_.plan.corpus;
    if (common.empty() || common == "native") {
        return fail(ErrorKind::usage,
                    "opgauge ab: --rev-a and --rev-b need a corpus in git: name it with --corpus");
    }
    if (!worktrees_) worktrees_ = std::make_unique<Worktrees>(common, environment_);
    OPGAUGE_TRY_ASSIGN(const std::string commit, worktrees_->commit_of(arm.revision));
    commits_[name] = commit;
    if (commits_.value("a", "") == commits_.value("b", "-")) {
        return fail(
            ErrorKind::usage,
            fmt::format("opgauge ab: {} and {} are the same commit {}, so there is nothing "
                        "to compare",
                        printable(options_.a.revision), printable(options_.b.revision), commit));
    }
    std::error_code error;
    fs::create_directories(summary_.folder / "worktrees", error);
    OPGAUGE_TRY_ASSIGN(const fs::path folder,
                       worktrees_->add(commit, summary_.folder / "worktrees" / name));
    return folder.string();
}

Result<void> Experiment::open_arms() {
    for (const auto* arm : {&options_.a, &options_.b}) {
        const bool first = arm == &options_.a;
        PlanOptions plan = options_.plan;
        OPGAUGE_TRY_ASSIGN(plan.corpus, corpus_for(*arm, first ? "a" : "b"));
        Environment own = environment_;
        if (!arm->corpus.empty() || !arm->revision.empty()) {
            own = with_own_package(std::move(own), plan.corpus);
        }
        for (const auto& [name, value] : arm->environment) own.set(name, value);
        (first ? a_ : b_) = std::make_unique<ArmRuns>(std::move(plan), std::move(own), options_,
                                                      installation_, clock_, observer_);
    }
    question_.options = options_.compare;
    question_.switches = switches_of(options_, environment_);
    if (options_.plan.tuning.mode == "record") {
        question_.options.factors.emplace_back(kWinnersFact);
    }
    return check_devices();
}

// Also that each operator can be planned in both arms, before the first minute is spent.
Result<void> Experiment::check_devices() {
    std::set<std::string> tokens;
    for (const auto& name : options_.operators) {
        for (auto* arm : {a_.get(), b_.get()}) {
            OPGAUGE_TRY_ASSIGN(const Plan* plan, arm->plan(name));
            tokens.insert(plan->device.token);
            // What is idle now may not be at the next plan.
            arm->pin(plan->device.token);
        }
    }
    if (tokens.size() == 1) return {};
    const std::vector<std::string> list(tokens.begin(), tokens.end());
    return fail(ErrorKind::refused,
                fmt::format("opgauge ab: the arms would be measured on different devices ({}), so "
                            "these and not the code would be compared; name one with --devices",
                            join(list, ", ")));
}

// One operator's runs lie at the replicate itself, several below it.
fs::path Experiment::folder_for(const fs::path& parent, const std::string& name) const {
    return options_.operators.size() == 1 ? parent : parent / as_file_name(name);
}

bool Experiment::was_interrupted() {
    if (SignalGuard::count() == 0) return false;
    summary_.status = "interrupted";
    summary_.signal = SignalGuard::received();
    summary_.reason =
        fmt::format("interrupted after {} of {} replicates", done_, options_.replicates);
    return true;
}

Result<std::string> Experiment::recorded_run(const std::string& name) {
    observer_.on_phase("recording the winners of " + printable(name));
    const fs::path folder = folder_for(summary_.folder / "record", name);
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    OPGAUGE_TRY_ASSIGN(const RunSummary run, a_->run(name, folder, *b_));
    // An interrupted run has winners too; whoever asked for it is told by the caller.
    const bool empty = run.facts.value("/rows/ok"_json_pointer, 0) == 0;
    if (run.exit_code == 0 || !empty || SignalGuard::count() > 0) return folder.string();
    return fail(ErrorKind::failed,
                fmt::format("opgauge ab: no winners of {}: arm A's recording "
                            "run {} ended {}: {}",
                            printable(name), folder.string(), run.status, run.reason));
}

Result<void> Experiment::settle_winners() {
    OPGAUGE_TRY_ASSIGN(const Plan* first, a_->plan(options_.operators.front()));
    const std::string source = first->replay.source.value;
    const bool records = options_.plan.tuning.mode.empty() && first->tune.value == "record";
    if (options_.plan.tuning.mode == "record") winners_ = "tuned anew by each replicate";
    if (source.empty() && !records) return {};
    winners_ = "replayed from " + (records ? std::string("record") : source);
    std::vector<std::string> accepted;
    for (const auto& name : question_.switches) accepted.push_back("environment." + name);
    for (const auto& name : options_.operators) {
        std::string from = source;
        if (records) {
            OPGAUGE_TRY_ASSIGN(from, recorded_run(name));
        }
        if (was_interrupted()) return {};
        for (const auto& arm : {a_.get(), b_.get()}) arm->replay(name, from, accepted);
    }
    return {};
}

Result<bool> Experiment::take(Result<RunSummary> run, AbArm arm, std::size_t number,
                              const std::string& name) {
    const std::string status = run ? run->status : "not_started";
    runs_.push_back({{"arm", folder_of(arm)},
                     {"replicate", number},
                     {"operator", name},
                     {"status", status},
                     {"reason", run ? run->reason : run.error().message}});
    if (was_interrupted()) return false;
    if (run && (status == "passed" || status == "skipped")) return true;
    ++summary_.failed_runs;
    // What no replicate can get past: the next one would find the same.
    if (run && run->exit_code < 3) return true;
    summary_.status = "failed";
    summary_.reason = fmt::format("arm {}, replicate {}, {}: {}", folder_of(arm), number,
                                  printable(name), run ? run->reason : run.error().message);
    return false;
}

Result<bool> Experiment::measure_round(std::size_t number, const std::array<AbArm, 3>& round) {
    for (const AbArm arm : round) {
        order_.push_back(folder_of(arm));
        const fs::path replicate = summary_.folder / folder_of(arm) / fmt::format("{:03}", number);
        for (const auto& name : options_.operators) {
            observer_.on_phase(fmt::format("replicate {} of {}, arm {}: {}", number,
                                           options_.replicates, folder_of(arm), printable(name)));
            const fs::path folder = folder_for(replicate, name);
            std::error_code error;
            fs::create_directories(folder.parent_path(), error);
            ArmRuns& other = arm == AbArm::b ? *a_ : *b_;
            OPGAUGE_TRY_ASSIGN(const bool on,
                               take(runs_of(arm).run(name, folder, other), arm, number, name));
            if (!on) return false;
        }
    }
    done_ = number;
    return true;
}

Result<void> Experiment::look_at(const Look& look) {
    last_look_ = look;
    auto judgement = judge_ab(summary_.folder, question_, look);
    if (judgement) {
        summary_.judgement = std::move(*judgement);
    } else if (summary_.status == "running") {
        return tl::unexpected<Error>(judgement.error());
    }
    return {};
}

// Nobody should wait for all replicates to hear that the arms cannot be compared. No verdict is
// looked at.
bool Experiment::was_refused(const Look& look) {
    if (done_ != 1) return false;
    auto first = judge_ab(summary_.folder, question_, look);
    const bool refused = first && first->comparison.refusal &&
                         first->comparison.refusal->kind == RefusalKind::caliber;
    if (!refused) return false;
    summary_.status = "failed";
    summary_.judgement = std::move(*first);
    return true;
}

Result<void> Experiment::measure_all() {
    const auto count = static_cast<std::size_t>(options_.replicates);
    const auto looks = ab_looks(count, options_.early);
    auto look = looks.begin();
    for (const auto& round : ab_rounds(count, options_.seed)) {
        OPGAUGE_TRY_ASSIGN(const bool on, measure_round(done_ + 1, round));
        OPGAUGE_TRY(write());
        if (!on) break;
        if (was_refused(looks.back())) return {};
        if (done_ != look->replicates) continue;
        OPGAUGE_TRY(look_at(*look));
        if (done_ < count && summary_.judgement->is_decided()) {
            summary_.status = "stopped_early";
            return {};
        }
        if (done_ < count) ++look;
    }
    if (summary_.status == "running") {
        summary_.status = "complete";
        return {};
    }
    // An unplanned end: judged with the share that is left, since nobody chose it by the verdicts.
    return look_at({done_, looks.back().share});
}

Json Experiment::facts() const {
    const auto arm = [](const AbArmOptions& options, const Json& commit) {
        return Json{{"environment", options.environment},
                    {"corpus", options.corpus},
                    {"revision", options.revision},
                    {"commit", commit}};
    };
    Json json = {{"status", summary_.status},
                 {"reason", summary_.reason},
                 {"operators", options_.operators},
                 {"a", arm(options_.a, commits_.value("a", Json(nullptr)))},
                 {"b", arm(options_.b, commits_.value("b", Json(nullptr)))},
                 {"seed", options_.seed},
                 {"order", order_},
                 {"replicates_planned", options_.replicates},
                 {"replicates_done", done_},
                 {"look", {{"replicates", last_look_.replicates}, {"share", last_look_.share}}},
                 {"winners", winners_},
                 {"failed_runs", summary_.failed_runs},
                 {"runs", runs_}};
    if (!summary_.judgement) return json;
    json["winner_not_shared"] = summary_.judgement->winner_not_shared;
    json["identical_arms"] = summary_.judgement->identical;
    const auto& again = summary_.judgement->again;
    json["again"] = again ? comparison_json(*again) : Json(nullptr);
    return json;
}

// A comparison as `opgauge compare --json` writes it, and beside it how its arms were made.
Result<void> Experiment::write() {
    CompareOptions options = options_.compare;
    Comparison none;
    none.options = options;
    Comparison& comparison = summary_.judgement ? summary_.judgement->comparison : none;
    auto& notes = comparison.notes;
    const auto kept = notes.size();
    notes.push_back(fmt::format(
        "A/B {}: {} of {} replicates an arm, seed {}, arm {} first; winners {}", summary_.status,
        done_, options_.replicates, options_.seed,
        order_.empty() ? std::string("-") : order_.front().get<std::string>(), winners_));
    if (last_look_.share < 1) {
        notes.push_back(fmt::format(
            "this look, after {} replicates, may use {:g} % of each error rate (docs/ab.md)",
            last_look_.replicates, 100 * last_look_.share));
    }
    if (!summary_.reason.empty()) notes.push_back(printable(summary_.reason));
    Json json = comparison_json(comparison);
    json["ab"] = facts();
    notes.resize(kept);
    return write_file_atomically(summary_.folder / "ab.json", to_text(json));
}

}  // namespace

Result<AbSummary> run_ab(const AbOptions& options, const Environment& environment,
                         const Installation& installation, const Clock& clock,
                         RunObserver& observer) {
    Environment own = environment;
    // They name one operator, for `run`.
    for (const char* name : {"OP", "OP_FILE", "TEST_NODE"}) own.unset(name);
    return Experiment(options, std::move(own), installation, clock, observer).work();
}

}  // namespace opgauge
