// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/identity.h"

#include "opgauge/record/caliber.h"
#include "opgauge/session/host_facts.h"
#include "opgauge/session/tuning_setup.h"

#include <array>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

constexpr int kIdentitySchemaVersion = 1;

// Variables of the child's environment that may change a number on any backend; each backend adds
// its own. All others stay out: an environment holds secrets.
constexpr std::array<std::string_view, 8> kRecordedPrefixes = {
    "TRITON_", "FLAGGEMS_", "FLAG_GEMS_", "PYTORCH_", "TORCH_", "OMP_", "MKL_", "OPENBLAS_"};

// Where something lies says nothing about how fast it is.
constexpr std::array<std::string_view, 2> kFolderVariables = {"TRITON_CACHE_DIR", "TRITON_HOME"};

bool is_recorded(std::string_view name, const Backend& backend) {
    for (const auto folder : kFolderVariables) {
        if (name == folder) return false;
    }
    for (const auto prefix : kRecordedPrefixes) {
        if (name.starts_with(prefix)) return true;
    }
    for (const auto recorded : backend.recorded_variables()) {
        if (name == recorded) return true;
    }
    return false;
}

Json recorded_environment(const Environment& environment, const std::string& backend_name) {
    Json recorded = Json::object();
    const auto backend = find_backend(backend_name);
    if (!backend) return recorded;
    for (const auto& [name, value] : environment.values()) {
        if (is_recorded(name, **backend)) recorded[name] = value;
    }
    return recorded;
}

Json device_facts(const Plan& plan) {
    const Device& device = plan.device.device;
    return {{"token", plan.device.token},
            {"index", device.index},
            {"uuid", optional_json(device.uuid)},
            {"pci_id", optional_json(device.pci_id)},
            {"name", device.name},
            {"memory_total_bytes", optional_json(device.memory_total_bytes)},
            {"partition", optional_json(device.partition)},
            {"power_limit_watts", optional_json(device.power_limit_watts)},
            {"compute_capability", optional_json(device.compute_capability)}};
}

Json package(const std::optional<PythonFacts>& python, const char* name) {
    if (!python) return nullptr;
    const auto found = python->packages.find(name);
    return found == python->packages.end() ? Json(nullptr) : optional_json(found->second);
}

Json software_facts(const std::optional<PythonFacts>& python) {
    return {{"python", python ? Json(python->version) : Json(nullptr)},
            {"python_executable", python ? Json(python->executable) : Json(nullptr)},
            {"torch", package(python, "torch")},
            {"triton", package(python, "triton")},
            {"pytest", package(python, "pytest")}};
}

Json corpus_facts(const Plan& plan, const CorpusVersion& version) {
    Json nodes = Json::array();
    for (const auto& node : plan.nodes) nodes.push_back(node.id);
    return {{"name", plan.corpus_name},
            {"root", plan.corpus_root},
            {"commit", optional_json(version.commit)},
            {"dirty_digest", optional_json(version.dirty_digest)},
            {"nodes", nodes}};
}

Json plugin_names(const Plan& plan) {
    Json names = Json::array();
    for (const auto& plugin : plan.plugins) names.push_back(plugin.value);
    return names;
}

Json settings_facts(const IdentityInput& input) {
    const Plan& plan = input.plan;
    const StoppingSettings& stopping = input.stopping;
    return {{"level", plan.settings.level},
            {"dtypes", plan.settings.dtypes},
            {"mode", plan.settings.mode},
            {"warmup_ms", plan.settings.warmup_ms},
            {"iteration_ms", plan.settings.iteration_ms},
            {"parallel_measure", input.measuring == Measuring::parallel},
            {"device_use", input.device_lanes > 1 ? "shared" : "own"},
            {"device_lanes", input.device_lanes},
            {"heat", plan.heat},
            {"stopping", name_of(stopping.rule)},
            {"precision", stopping.precision},
            {"min_samples", stopping.min_samples},
            {"max_time_s", stopping.max_time_s}};
}

// Why a fact is null, for a reader who wonders.
Json unknown_facts(const IdentityInput& input) {
    Json unknown = Json::object();
    const auto say = [&unknown](const char* field, const std::optional<std::string>& known,
                                const std::string& reason) {
        if (!known) unknown[field] = reason;
    };
    const Device& device = input.plan.device.device;
    const std::string source =
        input.plan.discovery.source.empty() ? "the backend" : input.plan.discovery.source;
    say("device.uuid", device.uuid, source + " tells none");
    say("device.pci_id", device.pci_id, source + " tells none");
    say("device.partition", device.partition, "not partitioned, or " + source + " tells none");
    say("driver", input.plan.discovery.driver, source + " tells none");
    say("runtime", input.plan.discovery.runtime, source + " tells none");
    say("corpus.commit", input.corpus_version.commit,
        input.corpus_version.reason.value_or("unknown"));
    if (!input.python) unknown["software.python"] = "the native corpus runs without Python";
    if (!input.no_section.empty()) unknown["measuring_section"] = input.no_section;
    unknown["clocks.policy"] = "not read in this release";
    unknown["tuning.winners_digest"] =
        input.plan.tune.value == "off" ? "tuning is off: opgauge sees no winners, the corpus may "
                                         "tune on its own"
                                       : "told at the end of the run";
    return unknown;
}

}  // namespace

Json make_identity(const IdentityInput& input) {
    const Plan& plan = input.plan;
    Json identity = {
        {"schema_version", kIdentitySchemaVersion},
        {"run_id", input.run_id},
        {"created_utc", input.created_utc},
        {"opgauge_version", input.tool_version},
        {"argv", input.argv},
        {"backend", {{"name", plan.backend.value}, {"why", plan.backend.why}}},
        {"device", device_facts(plan)},
        {"driver", optional_json(plan.discovery.driver)},
        {"runtime", optional_json(plan.discovery.runtime)},
        {"software", software_facts(input.python)},
        {"corpus", corpus_facts(plan, input.corpus_version)},
        {"timer",
         {{"name", plan.timer.value},
          {"why", plan.timer.why},
          {"settings", plan.timer_settings},
          {"fallback", plan.fallback_timer.empty() ? Json(nullptr) : Json(plan.fallback_timer)}}},
        {"tuning", tuning_facts(plan, input.replayed)},
        {"shapes", {{"source", plan.shapes.value}, {"digest", optional_json(plan.shapes_digest)}}},
        {"plugins", plugin_names(plan)},
        {"settings", settings_facts(input)},
        {"environment", recorded_environment(input.child_environment, plan.backend.value)},
        {"host", host_facts()},
        {"clocks", {{"policy", nullptr}}},
        {"child", nullptr},
        {"unknown", unknown_facts(input)},
    };
    identity["setup_id"] = setup_id(identity);
    identity["caliber_id"] = nullptr;
    return identity;
}

void complete_identity(Json& identity, const Json& device_report, const std::string& timer) {
    Json child = device_report;
    child.erase("type");
    child.erase("seq");
    // A package built by hand has no metadata; what the child imported has a version all the same.
    for (const char* name : {"torch", "triton"}) {
        auto& known = identity["software"][name];
        if (known.is_null() && child.contains(name)) known = child.at(name);
    }
    identity["child"] = std::move(child);
    identity["caliber_id"] = caliber_id(identity, timer, Json::object(), "");
}

}  // namespace opgauge
