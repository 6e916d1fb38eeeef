// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/planner.h"

#include "opgauge/base/text.h"
#include "opgauge/plan/compile_decision.h"
#include "opgauge/plan/decisions.h"
#include "opgauge/plan/tune_timing_decision.h"
#include "opgauge/plan/tuning_decision.h"
#include "opgauge/plan/warmup_decision.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {
namespace {

std::string first_of(const std::string& option, const Environment& environment,
                     const char* variable, const char* otherwise) {
    if (!option.empty()) return option;
    return environment.get_non_empty(variable).value_or(otherwise);
}

// The native corpus runs on the host; `auto` then never means an accelerator.
Result<BackendChoice> choose_for(const std::string& corpus_name, const PlanOptions& options,
                                 const Environment& environment) {
    if (corpus_name != "native") {
        return choose_backend(options.backend, environment, WithoutAccelerator::error);
    }
    const std::string asked = first_of(options.backend, environment, "ZL_BACKEND", "auto");
    if (lower(asked) == "auto") {
        OPGAUGE_TRY_ASSIGN(auto choice,
                           choose_backend("cpu", environment, WithoutAccelerator::use_cpu));
        choice.why =
            "auto: the native corpus runs on the host; name a corpus with --corpus for others";
        return choice;
    }
    OPGAUGE_TRY_ASSIGN(auto choice,
                       choose_backend(options.backend, environment, WithoutAccelerator::use_cpu));
    if (choice.backend->name() == "cpu" || choice.backend->hidden()) return choice;
    return fail(
        ErrorKind::usage,
        fmt::format("the native corpus runs on backend cpu, not on {}; name a corpus for it "
                    "with --corpus or OPGAUGE_CORPUS",
                    choice.backend->name()));
}

void add_environment(Plan& plan, const Environment& environment) {
    // Set before the process starts: OpenMP reads it once. Both sides must use as many threads.
    if (plan.corpus_name == "native" && !environment.get_non_empty("OMP_NUM_THREADS")) {
        plan.environment.push_back({"OMP_NUM_THREADS", "1", "one thread, unless you set it"});
    }
    for (const auto& [name, value] : plan.device.changes) {
        plan.environment.push_back({name, value, "pins the child to device " + plan.device.token});
    }
}

void add_capabilities(Plan& plan, const Backend& backend) {
    const auto offered = backend.capabilities();
    for (const Capability capability : all_capabilities()) {
        plan.capabilities[std::string(name_of(capability))] =
            offered.contains(capability) ? "yes"
                                         : fmt::format("backend {} has none", backend.name());
    }
}

std::string device_why(const PlanOptions& options, const Environment& environment,
                       const Backend& backend) {
    if (!options.devices.empty()) return "--devices " + options.devices;
    for (const auto variable : backend.visibility_variables()) {
        if (environment.get(variable)) return fmt::format("the first that {} shows", variable);
    }
    return "the first usable device";
}

// What was asked for by name and would be dropped without a word is refused instead.
Result<void> check_options(const PlanOptions& options, const Provider& provider) {
    struct Asked {
        bool given;
        const char* ours;
        const char* theirs;
    };
    const bool shapes = !options.shapes.empty() && options.shapes != "upstream";
    for (const Asked& asked : {Asked{shapes, "--shapes", "--shape_file"},
                               {!options.dtypes.empty(), "--dtypes", "--dtypes"},
                               {!options.level.empty(), "--level", "--level"},
                               {options.warmup_ms > 0, "--warmup", "--warmup"},
                               {options.iteration_ms > 0, "--iter", "--iter"}}) {
        if (!asked.given || provider.takes_option(asked.theirs)) continue;
        return fail(ErrorKind::usage,
                    fmt::format("{}: the corpus {} has no option {}; leave it out", asked.ours,
                                provider.name(), asked.theirs));
    }
    return {};
}

std::string why_set(const std::string& variable) {
    if (variable == "PYTHONPATH") return "opgauge's bridge, before what you have there";
    if (variable == "PYTHONUNBUFFERED") return "the child's output reaches its log at once";
    return "the corpus's runner needs it";
}

// The command's own variables with the values that the child gets, beside all others.
void add_command_environment(Plan& plan, const Environment& environment) {
    for (const auto& [name, value] : plan.command.environment) {
        // The bridge's folder goes before the caller's own; it must not take their place.
        const bool path = name == "PYTHONPATH";
        plan.environment.push_back(
            {name, path ? environment.with_before(name, value) : value, why_set(name)});
    }
    plan.command.environment.clear();
}

void add_command(Plan& plan, const Provider& provider, const Environment& environment) {
    plan.settings.backend = plan.backend.value;
    plan.settings.shape_file = plan.shapes_file;
    std::vector<std::string> plugins;
    for (const auto& plugin : plan.plugins) plugins.push_back(plugin.value);
    plan.command = provider.command(plan.nodes, plugins, plan.settings);
    add_command_environment(plan, environment);
    // The hidden backend's native child plays a script instead of measuring (docs/fake_backend.md).
    const auto script = environment.get_non_empty("OPGAUGE_FAKE_SCRIPT");
    if (plan.backend.value == "fake" && plan.corpus_name == "native" && script) {
        plan.command.argv = {plan.command.argv.front(), "--script", *script};
    }
}

}  // namespace

Result<Planner> Planner::open(PlanOptions options, Environment environment,
                              const Installation& installation) {
    OPGAUGE_TRY_ASSIGN(options.dtypes, decide_dtypes(options.dtypes));
    Planner planner;
    const std::string corpus = first_of(options.corpus, environment, "OPGAUGE_CORPUS", "native");
    const std::string python = first_of(options.python, environment, "OPGAUGE_PYTHON", "python3");
    OPGAUGE_TRY_ASSIGN(planner.provider_, open_corpus(corpus, python, installation));
    planner.options_ = std::move(options);
    planner.environment_ = std::move(environment);
    return planner;
}

void Planner::forget_devices() {
    choice_.reset();
    selected_.clear();
}

Result<Plan> Planner::plan(const NodeRequest& request) {
    Plan plan;
    plan.corpus_name = provider_->name();
    plan.corpus_root = provider_->root().string();
    // The cheap look-ups first: a misspelt operator is told without asking any device.
    OPGAUGE_TRY(add_corpus(plan, request));
    OPGAUGE_TRY(check_options(options_, *provider_));
    OPGAUGE_TRY(add_backend(plan));
    OPGAUGE_TRY(add_measuring(plan));
    plan.settings.level = options_.level.empty() ? "core" : options_.level;
    plan.settings.dtypes = options_.dtypes;
    plan.settings.warmup_ms = options_.warmup_ms;
    plan.settings.iteration_ms = options_.iteration_ms;
    add_command(plan, *provider_, environment_);
    return plan;
}

Result<void> Planner::add_corpus(Plan& plan, const NodeRequest& request) {
    OPGAUGE_TRY_ASSIGN(const auto decided, decide_request(request, environment_));
    OPGAUGE_TRY_ASSIGN(plan.nodes, provider_->resolve(decided.request));
    plan.nodes_why = decided.why;
    if (!shapes_) {
        OPGAUGE_TRY_ASSIGN(shapes_, decide_shapes(options_.shapes, environment_, *provider_));
    }
    plan.shapes = shapes_->decision;
    plan.shapes_file = shapes_->file;
    plan.shapes_content = shapes_->content;
    plan.shapes_digest = shapes_->digest;
    return {};
}

Result<void> Planner::add_backend(Plan& plan) {
    if (!choice_) {
        OPGAUGE_TRY_ASSIGN(choice_, choose_for(plan.corpus_name, options_, environment_));
    }
    plan.backend = {std::string(choice_->backend->name()), choice_->why};
    plan.discovery = choice_->discovery;
    return {};
}

// What depends on the backend's capabilities.
Result<void> Planner::add_measuring(Plan& plan) {
    const Backend& backend = *choice_->backend;
    const auto tunes = plan.corpus_name != "native" ? CorpusTuning::yes
                       : backend.hidden()           ? CorpusTuning::on_call
                                                    : CorpusTuning::none;
    OPGAUGE_TRY_ASSIGN(auto tuning, decide_tuning(options_.tuning, environment_, tunes));
    plan.tune = std::move(tuning.mode);
    plan.replay = std::move(tuning.replay);
    OPGAUGE_TRY_ASSIGN(plan.compile, decide_compile(options_.tuning, backend, plan.tune.value));
    OPGAUGE_TRY_ASSIGN(plan.tune_timing,
                       decide_tune_timing(options_.tuning, environment_, backend, plan));
    OPGAUGE_TRY_ASSIGN(plan.timer, decide_timer(options_.timer, backend, plan.corpus_name));
    OPGAUGE_TRY_ASSIGN(const TimerSettings settings,
                       decide_timer_settings(options_.l2, backend, plan.timer.value));
    plan.timer_settings = settings.json;
    plan.fallback_timer = settings.fallback_timer;
    plan.heat = options_.heat.empty() ? "burst" : options_.heat;
    OPGAUGE_TRY(add_device(plan));
    OPGAUGE_TRY_ASSIGN(plan.warmup, decide_warmup(options_.warmup, options_.devices, plan, tunes,
                                                  backend, environment_));
    if (plan.corpus_name == "native") return {};
    auto plugins = decide_plugins(backend, plan.timer.value);
    plan.plugins = std::move(plugins.used);
    plan.no_plugins = std::move(plugins.left_out);
    return {};
}

Result<void> Planner::add_device(Plan& plan) {
    const Backend& backend = *choice_->backend;
    if (selected_.empty()) {
        OPGAUGE_TRY_ASSIGN(selected_,
                           select_devices(backend, plan.discovery, options_.devices, environment_));
        backend.complete(selected_.front().device, environment_);
    }
    plan.device = selected_.front();
    plan.device_why = device_why(options_, environment_, backend);
    if (selected_.size() > 1) {
        plan.device_why += fmt::format("; the first of {}, since one run measures on one device",
                                       selected_.size());
    }
    add_capabilities(plan, backend);
    add_environment(plan, environment_);
    return {};
}

Result<Plan> make_plan(const PlanOptions& options, const Environment& environment,
                       const Installation& installation) {
    OPGAUGE_TRY_ASSIGN(Planner planner, Planner::open(options, environment, installation));
    return planner.plan(options.request);
}

}  // namespace opgauge
