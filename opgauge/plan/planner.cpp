// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/planner.h"

#include "opgauge/base/text.h"
#include "opgauge/plan/compile_decision.h"
#include "opgauge/plan/decisions.h"
#include "opgauge/plan/tuning_decision.h"
#include "opgauge/plan/warmup_decision.h"

#include <fmt/format.h>

#include <memory>

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

Result<void> add_device(Plan& plan, const PlanOptions& options, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const Backend* backend, find_backend(plan.backend.value));
    OPGAUGE_TRY_ASSIGN(const auto selected,
                       select_devices(*backend, plan.discovery, options.devices, environment));
    plan.device = selected.front();
    backend->complete(plan.device.device, environment);
    plan.device_why = device_why(options, environment, *backend);
    if (selected.size() > 1) {
        plan.device_why +=
            fmt::format("; the first of {}, since one run measures on one device", selected.size());
    }
    add_capabilities(plan, *backend);
    add_environment(plan, environment);
    return {};
}

Result<void> add_corpus(Plan& plan, const Provider& provider, const PlanOptions& options,
                        const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const auto request, decide_request(options.request, environment));
    OPGAUGE_TRY_ASSIGN(plan.nodes, provider.resolve(request.request));
    plan.nodes_why = request.why;
    OPGAUGE_TRY_ASSIGN(auto shapes, decide_shapes(options.shapes, environment, provider));
    plan.shapes = shapes.decision;
    plan.shapes_file = shapes.file;
    plan.shapes_content = std::move(shapes.content);
    plan.shapes_digest = shapes.digest;
    return {};
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

Result<Plan> make_plan(const PlanOptions& options, const Environment& environment,
                       const Installation& installation) {
    OPGAUGE_TRY(check_dtypes(options.dtypes));
    const std::string corpus = first_of(options.corpus, environment, "OPGAUGE_CORPUS", "native");
    const std::string python = first_of(options.python, environment, "OPGAUGE_PYTHON", "python3");
    OPGAUGE_TRY_ASSIGN(const auto provider, open_corpus(corpus, python, installation));
    Plan plan;
    plan.corpus_name = provider->name();
    plan.corpus_root = provider->root().string();
    // The cheap look-ups first: a misspelt operator is told without asking any device.
    OPGAUGE_TRY(add_corpus(plan, *provider, options, environment));
    OPGAUGE_TRY(check_options(options, *provider));
    OPGAUGE_TRY_ASSIGN(const BackendChoice choice,
                       choose_for(plan.corpus_name, options, environment));
    plan.backend = {std::string(choice.backend->name()), choice.why};
    plan.discovery = choice.discovery;
    const auto tunes = plan.corpus_name != "native" ? CorpusTuning::yes
                       : choice.backend->hidden()   ? CorpusTuning::on_call
                                                    : CorpusTuning::none;
    OPGAUGE_TRY_ASSIGN(auto tuning, decide_tuning(options.tuning, environment, tunes));
    plan.tune = std::move(tuning.mode);
    plan.replay = std::move(tuning.replay);
    OPGAUGE_TRY_ASSIGN(plan.compile,
                       decide_compile(options.tuning, *choice.backend, plan.tune.value));
    OPGAUGE_TRY_ASSIGN(plan.timer, decide_timer(options.timer, *choice.backend, plan.corpus_name));
    OPGAUGE_TRY_ASSIGN(const TimerSettings settings,
                       decide_timer_settings(options.l2, *choice.backend, plan.timer.value));
    plan.timer_settings = settings.json;
    plan.fallback_timer = settings.fallback_timer;
    plan.heat = options.heat.empty() ? "burst" : options.heat;
    OPGAUGE_TRY(add_device(plan, options, environment));
    OPGAUGE_TRY_ASSIGN(plan.warmup, decide_warmup(options.warmup, options.devices, plan, tunes,
                                                  *choice.backend, environment));
    if (plan.corpus_name != "native") {
        auto plugins = decide_plugins(*choice.backend, plan.timer.value);
        plan.plugins = std::move(plugins.used);
        plan.no_plugins = std::move(plugins.left_out);
    }
    plan.settings.level = options.level.empty() ? "core" : options.level;
    plan.settings.dtypes = options.dtypes;
    plan.settings.warmup_ms = options.warmup_ms;
    plan.settings.iteration_ms = options.iteration_ms;
    add_command(plan, *provider, environment);
    return plan;
}

}  // namespace opgauge
