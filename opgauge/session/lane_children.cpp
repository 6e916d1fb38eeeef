// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/lane_children.h"

#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kFactsDeadline{120'000};
constexpr const char* kFramework = "torch";
constexpr const char* kFactsModule = "opgauge_bridge.device_facts";

// A process of its own uses the device for a moment, so that the server need not.
Result<Json> device_facts(const std::string& python, const std::string& backend,
                          const Environment& environment) {
    const auto failed = [](std::string_view why) {
        return fail(ErrorKind::environment,
                    fmt::format("the device's facts cannot be asked: {}", printable(why, 200)));
    };
    const auto output =
        run_tool({python, "-m", kFactsModule, backend}, environment, kFactsDeadline);
    if (!output) return failed(output.error().message);
    // What the framework itself prints comes before it.
    const auto said = lines_of(trim(output->exit_code == 0 ? output->out : output->err));
    if (said.empty()) return failed("no answer");
    if (output->exit_code != 0) return failed(said.back());
    auto facts = parse_json(said.back(), "the answer");
    if (!facts) return failed(facts.error().message);
    return facts;
}

std::vector<std::string> imports_of(const PythonFacts& python, const Provider& provider) {
    std::vector<std::string> imports(python.modules.begin(), python.modules.end());
    for (auto& name : provider.imports()) imports.push_back(std::move(name));
    return imports;
}

}  // namespace

Json LaneChildren::fork_server() const {
    const std::string& reason = server_ ? server_->problem() : why_none_;
    return reason.empty() ? Json(true) : Json(reason);
}

ChildSource* LaneChildren::source(const Plan& plan, const Provider& provider, PythonProbe& python,
                                  const Environment& environment) {
    if (!server_ && why_none_.empty()) {
        auto made = settings(plan, provider, python, environment);
        if (made) {
            server_.emplace(std::move(*made));
        } else {
            why_none_ = made.error().message;
            tell_("no fork server: " + why_none_);
        }
    }
    return server_ ? &*server_ : nullptr;
}

Result<ForkServerSettings> LaneChildren::settings(const Plan& plan, const Provider& provider,
                                                  PythonProbe& python,
                                                  const Environment& environment) const {
    // At the end of a warm-up's workers all other children of the process are killed.
    if (!plan.warmup.shards.empty()) return fail(ErrorKind::refused, "a warm-up would end it");
    Environment child = environment;
    for (const auto& variable : plan.environment) child.change(variable.name, variable.value);
    const std::string& interpreter = plan.command.argv.front();
    OPGAUGE_TRY_ASSIGN(const PythonFacts facts, python.ask(interpreter, child));
    ForkServerSettings settings;
    settings.backend = plan.backend.value;
    settings.imports = imports_of(facts, provider);
    settings.paths = provider.import_paths();
    settings.tell = tell_;
    if (facts.modules.contains(kFramework)) {
        tell_("asking for the device's facts");
        OPGAUGE_TRY_ASSIGN(settings.lend, device_facts(interpreter, settings.backend, child));
    }
    return settings;
}

}  // namespace opgauge
