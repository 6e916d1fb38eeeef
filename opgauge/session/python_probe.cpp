// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/python_probe.h"

#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"
#include "opgauge/plan/capabilities.h"
#include "opgauge/session/interpreter_cache.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr const char* kProgram = R"(
import json, sys
from importlib import metadata, util
sys.path = [folder for folder in sys.path if folder]  # what lies in the caller's folder is not installed
def importable(name):
    try:
        spec = util.find_spec(name)
    except Exception:
        return False
    return spec is not None and spec.origin is not None  # a folder of that name is no module
packages = {}
for name in sys.argv[1:]:
    try:
        packages[name] = metadata.version(name)
    except Exception:
        packages[name] = None
print(json.dumps({"executable": sys.executable, "version": sys.version.split()[0],
                  "packages": packages, "folders": sys.path,
                  "modules": [name for name in ("torch", "triton") if importable(name)]}))
)";

// An interpreter on a cold network disk may take seconds to start.
constexpr std::chrono::milliseconds kDeadline{30'000};

}  // namespace

Result<PythonFacts> probe_python(const std::string& python, const Environment& environment) {
    const std::vector<std::string> argv = {python,   "-c",       kProgram,     "pytest", "torch",
                                           "triton", "flagtree", "sqlalchemy", "numpy"};
    auto output = run_tool(argv, environment, kDeadline);
    if (!output) {
        return fail(ErrorKind::environment,
                    fmt::format("no Python to run the corpus with: {}; name one with --python or "
                                "OPGAUGE_PYTHON",
                                output.error().message));
    }
    const auto parsed = parse_json(trim(output->out), "the interpreter's answer");
    if (output->exit_code != 0 || !parsed) {
        const auto lines = lines_of(trim(output->err));
        return fail(ErrorKind::environment,
                    fmt::format("{} does not work as a Python interpreter: {}; name another with "
                                "--python or OPGAUGE_PYTHON",
                                python, printable(lines.empty() ? "no answer" : lines.back())));
    }
    PythonFacts facts;
    facts.executable = get_string(*parsed, "executable", python);
    facts.version = get_string(*parsed, "version");
    const Json packages = parsed->value("packages", Json::object());
    for (const auto& [name, version] : packages.items()) {
        facts.packages[name] =
            version.is_string() ? std::optional(version.get<std::string>()) : std::nullopt;
    }
    facts.folders = get_optional<std::vector<std::string>>(*parsed, "folders")
                        .value_or(std::vector<std::string>{});
    const auto modules = get_optional<std::vector<std::string>>(*parsed, "modules");
    if (modules) facts.modules.insert(modules->begin(), modules->end());
    return facts;
}

Result<PythonFacts> PythonProbe::ask(const std::string& python, const Environment& environment) {
    const auto found = known_.find(python);
    if (found != known_.end()) return found->second;
    OPGAUGE_TRY_ASSIGN(auto facts, probe_python(python, environment));
    return known_.emplace(python, std::move(facts)).first->second;
}

void narrow_capabilities(Plan& plan, const Environment& environment) {
    // The native corpus needs no Python.
    if (plan.corpus_name == "native") return;
    const std::string& python = plan.command.argv.front();
    if (const auto known = remembered_modules(python, environment)) {
        narrow_to_modules(plan, known->modules, known->executable);
        return;
    }
    const auto facts = probe_python(python, environment);
    if (!facts) {
        leave_capabilities_open(plan, facts.error().message);
        return;
    }
    remember_modules(python, environment, {facts->executable, facts->folders, facts->modules});
    narrow_to_modules(plan, facts->modules, facts->executable);
}

Result<void> require_packages(const PythonFacts& facts) {
    const auto found = facts.packages.find("pytest");
    if (found != facts.packages.end() && found->second) return {};
    return fail(ErrorKind::environment,
                fmt::format("{} (Python {}) has no pytest, which runs the corpus; install it there "
                            "(python -m pip install pytest) or name another interpreter with "
                            "--python",
                            facts.executable, facts.version));
}

}  // namespace opgauge
