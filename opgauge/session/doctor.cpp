// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/doctor.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"
#include "opgauge/device/backends.h"
#include "opgauge/device/discovery.h"
#include "opgauge/session/python_probe.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

std::string_view name_of(Finding finding) {
    switch (finding) {
        case Finding::works:
            return "works";
        case Finding::absent:
            return "absent";
        case Finding::problem:
            return "PROBLEM";
    }
    return "PROBLEM";
}

Diagnosis diagnose_backend(const Discovery& found) {
    if (found.devices.empty()) {
        return {found.backend, Finding::absent, join(found.reasons, "; "), ""};
    }
    std::string detail = fmt::format("{} device{} ({}) through {}", found.devices.size(),
                                     found.devices.size() == 1 ? "" : "s",
                                     printable(found.devices.front().name, 60), found.source);
    if (found.driver) detail += ", driver " + *found.driver;
    if (found.runtime) detail += ", runtime " + *found.runtime;
    const auto sick = std::find_if(found.devices.begin(), found.devices.end(),
                                   [](const Device& d) { return d.health == Health::unusable; });
    if (sick == found.devices.end()) return {found.backend, Finding::works, detail, ""};
    return {found.backend, Finding::problem,
            fmt::format("{}; device {} is unusable: {}", detail, sick->index,
                        printable(sick->health_detail)),
            "leave it out with --devices, or have it reset"};
}

std::vector<Diagnosis> diagnose_backends(const Environment& environment) {
    std::vector<std::string> names;
    for (const Backend* backend : all_backends()) {
        if (!backend->hidden()) names.emplace_back(backend->name());
    }
    std::vector<Diagnosis> result;
    for (const auto& found : discover_all(names, environment)) {
        result.push_back(diagnose_backend(found));
    }
    return result;
}

// The native corpus runs without Python: what is missing there is only absent.
enum class Needed { yes, no };

void diagnose_python(std::vector<Diagnosis>& result, const std::string& python, Needed needed,
                     const Environment& environment) {
    const auto facts = probe_python(python, environment);
    if (!facts) {
        const bool problem = needed == Needed::yes;
        result.push_back(
            {"python", problem ? Finding::problem : Finding::absent, facts.error().message,
             problem ? "install Python 3.10 or newer, or name one with --python" : ""});
        return;
    }
    result.push_back({"python", Finding::works, facts->version + " at " + facts->executable, ""});
    for (const auto& [name, version] : facts->packages) {
        if (version) {
            result.push_back({name, Finding::works, *version, ""});
        } else if (name == "pytest" && needed == Needed::yes) {
            result.push_back({name, Finding::problem, "not installed",
                              facts->executable + " -m pip install pytest"});
        } else {
            result.push_back({name, Finding::absent, "not installed", ""});
        }
    }
}

Diagnosis diagnose_installation(const Installation& installation) {
    std::vector<std::string> missing;
    if (installation.bridge.empty()) missing.emplace_back("the pytest bridge (OPGAUGE_BRIDGE)");
    if (installation.native_operators.empty()) {
        missing.emplace_back("opgauge-operators (OPGAUGE_OPERATORS)");
    }
    if (missing.empty()) {
        return {"installation", Finding::works, "bridge " + installation.bridge.string(), ""};
    }
    return {"installation", Finding::problem, "missing: " + join(missing, ", "),
            "install opgauge again, or point the variables at the parts"};
}

Diagnosis diagnose_corpus(const std::string& corpus, const std::string& python,
                          const Installation& installation) {
    auto provider = open_corpus(corpus, python, installation);
    if (!provider)
        return {"corpus", Finding::problem, provider.error().message, "name one with --corpus"};
    const auto nodes = (*provider)->list();
    if (!nodes)
        return {"corpus", Finding::problem, nodes.error().message, "name one with --corpus"};
    return {"corpus", Finding::works,
            fmt::format("{}: {} benchmark functions in {}", (*provider)->name(), nodes->size(),
                        (*provider)->root().string()),
            ""};
}

Diagnosis diagnose_choice(const PlanOptions& options, const Environment& environment) {
    const auto choice = choose_backend(options.backend, environment, WithoutAccelerator::use_cpu);
    if (!choice)
        return {"selection", Finding::problem, choice.error().message, "choose with --backend"};
    const auto selected =
        select_devices(*choice->backend, choice->discovery, options.devices, environment);
    if (!selected)
        return {"selection", Finding::problem, selected.error().message, "choose with --devices"};
    return {"selection", Finding::works,
            fmt::format("backend {} ({}), device {} {}", choice->backend->name(), choice->why,
                        selected->front().token, printable(selected->front().device.name, 60)),
            ""};
}

}  // namespace

std::vector<Diagnosis> diagnose(const PlanOptions& options, const Environment& environment,
                                const Installation& installation) {
    std::vector<Diagnosis> result = diagnose_backends(environment);
    result.push_back(diagnose_choice(options, environment));
    const std::string corpus =
        options.corpus.empty() ? environment.get("OPGAUGE_CORPUS").value_or("") : options.corpus;
    std::string python =
        options.python.empty() ? environment.get("OPGAUGE_PYTHON").value_or("") : options.python;
    if (python.empty()) python = "python3";
    result.push_back(diagnose_corpus(corpus, python, installation));
    result.push_back(diagnose_installation(installation));
    const bool native = corpus.empty() || corpus == "native";
    diagnose_python(result, python, native ? Needed::no : Needed::yes, environment);
    return result;
}

Json to_json(const std::vector<Diagnosis>& diagnoses) {
    Json list = Json::array();
    for (const auto& diagnosis : diagnoses) {
        list.push_back({{"subject", diagnosis.subject},
                        {"finding", lower(name_of(diagnosis.finding))},
                        {"detail", diagnosis.detail},
                        {"cure", diagnosis.cure}});
    }
    return list;
}

std::string to_text(const std::vector<Diagnosis>& diagnoses) {
    TextTable table({{"subject"}, {"finding"}, {"detail"}});
    for (const auto& diagnosis : diagnoses) {
        table.add_row({diagnosis.subject, std::string(name_of(diagnosis.finding)),
                       printable(diagnosis.detail, 1000)});
        if (!diagnosis.cure.empty()) table.add_row({"", "", "cure: " + diagnosis.cure});
    }
    return table.render();
}

}  // namespace opgauge
