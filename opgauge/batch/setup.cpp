// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/setup.h"

#include "opgauge/base/text.h"
#include "opgauge/device/backends.h"
#include "opgauge/plan/planner.h"
#include "opgauge/session/python_probe.h"

#include <fmt/format.h>

#include <set>

namespace opgauge {
namespace {

// What --devices takes to mean this device in the caller's world, whatever else is in it.
std::string request_for(const SelectedDevice& device, const Backend& backend,
                        const Discovery& discovery, const Environment& environment) {
    if (device.device.uuid) return *device.device.uuid;
    if (!parse_unsigned(device.token)) return device.token;
    for (std::size_t i = 0; i < discovery.devices.size(); ++i) {
        const auto at = select_devices(backend, discovery, std::to_string(i), environment);
        if (at && at->front().token == device.token) return std::to_string(i);
    }
    return device.token;
}

Result<void> add_devices(BatchSetup& setup, const Plan& plan, const std::string& request,
                         const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const Backend* backend, find_backend(plan.backend.value));
    OPGAUGE_TRY_ASSIGN(const auto selected,
                       select_devices(*backend, plan.discovery, request, environment));
    for (const auto& one : selected) {
        setup.devices.push_back({one.token, request_for(one, *backend, plan.discovery, environment),
                                 one.device.name, one.device.uuid.value_or("")});
        setup.leased.push_back(one.device);
    }
    return {};
}

Json models_of(const BatchSetup& setup) {
    std::set<std::string> names;
    for (const auto& device : setup.devices) names.insert(device.name);
    return names;
}

Json corpus_facts(const Plan& plan, const CorpusVersion& version) {
    Json facts = {{"corpus.name", plan.corpus_name}};
    // Where it lies does not matter if its commit is known.
    if (!version.commit) facts["corpus.root"] = plan.corpus_root;
    facts["corpus.commit"] = optional_json(version.commit);
    facts["corpus.dirty"] = optional_json(version.dirty_digest);
    return facts;
}

Json settings_facts(const Plan& plan) {
    return {{"timer", plan.timer.value},
            {"timer_settings", plan.timer_settings},
            {"tune", plan.tune.value},
            {"replay", plan.replay.source.value},
            {"tune_timing", plan.tune_timing.value},
            {"shapes", plan.shapes_digest ? Json(*plan.shapes_digest) : Json(plan.shapes.value)},
            {"level", plan.settings.level},
            {"dtypes", plan.settings.dtypes},
            {"heat", plan.heat}};
}

Result<Json> software_facts(const Plan& plan, const Environment& environment) {
    Json facts = {{"opgauge", OPGAUGE_VERSION}};
    if (plan.corpus_name == "native") return facts;
    Environment child = environment;
    for (const auto& variable : plan.environment) child.change(variable.name, variable.value);
    OPGAUGE_TRY_ASSIGN(const PythonFacts python, probe_python(plan.command.argv.front(), child));
    OPGAUGE_TRY(require_packages(python));
    facts["python"] = python.version;
    for (const char* name : {"torch", "triton"}) {
        const auto found = python.packages.find(name);
        if (found != python.packages.end()) facts[name] = optional_json(found->second);
    }
    return facts;
}

}  // namespace

Result<BatchSetup> find_setup(PlanOptions options, const BatchEntry& first,
                              const Environment& environment, const Installation& installation) {
    options.request = {first.node, first.operator_, first.file};
    OPGAUGE_TRY_ASSIGN(const Plan plan, make_plan(options, environment, installation));
    OPGAUGE_TRY_ASSIGN(const auto provider,
                       open_corpus(plan.corpus_name == "native" ? "native" : plan.corpus_root,
                                   plan.command.argv.front(), installation));
    BatchSetup setup;
    setup.backend = plan.backend.value;
    OPGAUGE_TRY(add_devices(setup, plan, options.devices, environment));
    OPGAUGE_TRY_ASSIGN(setup.facts, software_facts(plan, environment));
    setup.facts.update(corpus_facts(plan, provider->version(environment)));
    setup.facts["backend"] = setup.backend;
    setup.facts["driver"] = optional_json(plan.discovery.driver);
    setup.facts["device.models"] = models_of(setup);
    setup.facts.update(settings_facts(plan));
    setup.cost_facts = {
        {"backend", setup.backend},       {"devices", models_of(setup)},
        {"corpus", plan.corpus_root},     {"level", plan.settings.level},
        {"dtypes", plan.settings.dtypes}, {"shapes", optional_json(plan.shapes_digest)}};
    return setup;
}

std::vector<std::string> differing_facts(const Json& kept, const Json& now) {
    std::vector<std::string> lines;
    const auto value = [](const Json& facts, const std::string& name) {
        return facts.is_object() && facts.contains(name) ? printable(to_line(facts[name]), 80)
                                                         : std::string("unknown");
    };
    std::set<std::string> names;
    for (const Json* facts : {&kept, &now}) {
        for (const auto& [name, ignored] : facts->items()) names.insert(name);
    }
    for (const auto& name : names) {
        const std::string before = value(kept, name);
        const std::string after = value(now, name);
        if (before != after) lines.push_back(fmt::format("{} is {}, was {}", name, after, before));
    }
    return lines;
}

}  // namespace opgauge
