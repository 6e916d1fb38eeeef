// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/plan.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

Json to_json(const Decision& decision) {
    return {{"value", decision.value}, {"why", decision.why}};
}

Json to_json(const std::vector<Decision>& decisions) {
    Json list = Json::array();
    for (const auto& decision : decisions) list.push_back(to_json(decision));
    return list;
}

Json nodes_json(const Plan& plan) {
    Json list = Json::array();
    for (const auto& node : plan.nodes) {
        list.push_back({{"id", node.id}, {"file", node.file}, {"marks", node.marks}});
    }
    return {{"value", list}, {"why", plan.nodes_why}};
}

Json device_json(const Plan& plan) {
    const Device& device = plan.device.device;
    return {{"token", plan.device.token},
            {"index", device.index},
            {"name", device.name},
            {"uuid", optional_json(device.uuid)},
            {"pci_id", optional_json(device.pci_id)},
            {"why", plan.device_why}};
}

Json environment_json(const Plan& plan) {
    Json list = Json::array();
    for (const auto& variable : plan.environment) {
        list.push_back({{"name", variable.name},
                        {"value", optional_json(variable.value)},
                        {"why", variable.why}});
    }
    return list;
}

Json replay_json(const ReplayPlan& replay) {
    if (replay.source.value.empty()) return nullptr;
    return {{"source", to_json(replay.source)},
            {"warning", replay.warning.empty() ? Json(nullptr) : Json(replay.warning)},
            {"allow_misses", replay.allow_misses},
            {"accepted", replay.accepted}};
}

std::string forgiven(const ReplayPlan& replay) {
    std::string text = replay.source.why;
    if (!replay.warning.empty()) text += "; " + replay.warning;
    if (replay.allow_misses) text += "; what is missing is tuned live";
    for (const auto& fact : replay.accepted) text += "; another " + fact + " is accepted";
    return text;
}

std::vector<std::string> warmup_tokens(const WarmupPlan& warmup) {
    std::vector<std::string> tokens;
    for (const auto& shard : warmup.shards) tokens.push_back(shard.token);
    return tokens;
}

Json warmup_json(const WarmupPlan& warmup) {
    if (warmup.why.empty()) return nullptr;
    return {{"devices", warmup_tokens(warmup)},
            {"shared", warmup.shared},
            {"confirm", warmup.confirm},
            {"overlap",
             {{"share", warmup.overlap.share}, {"count", optional_json(warmup.overlap.count)}}},
            {"why", warmup.why}};
}

std::string warmup_text(const WarmupPlan& warmup) {
    std::string text = warmup.why;
    if (warmup.shared) text += "; they share devices, so every key is tuned again serially";
    if (warmup.confirm && !warmup.shared) text += "; disputed keys are tuned again serially";
    if (warmup.overlap.count) {
        text += fmt::format("; {} cases are tuned twice", *warmup.overlap.count);
    } else if (warmup.overlap.share > 0) {
        text += fmt::format("; {:.3g} % of the cases are tuned twice", 100 * warmup.overlap.share);
    }
    return text;
}

std::string shown_command(const CorpusCommand& command) {
    std::vector<std::string> words;
    for (const auto& word : command.argv) {
        const bool plain = word.find_first_of(" \t\n'\"\\$") == std::string::npos && !word.empty();
        words.push_back(plain ? printable(word) : fmt::format("'{}'", printable(word)));
    }
    return join(words, " ");
}

}  // namespace

Json to_json(const Plan& plan) {
    return {{"schema_version", 1},
            {"corpus", {{"name", plan.corpus_name}, {"root", plan.corpus_root}}},
            {"backend", to_json(plan.backend)},
            {"device", device_json(plan)},
            {"nodes", nodes_json(plan)},
            {"timer",
             {{"value", plan.timer.value},
              {"why", plan.timer.why},
              {"settings", plan.timer_settings},
              {"fallback", plan.fallback_timer},
              {"heat", plan.heat}}},
            {"tune", to_json(plan.tune)},
            {"replay", replay_json(plan.replay)},
            {"compile",
             {{"jobs", plan.compile.jobs},
              {"overlap", plan.compile.overlap},
              {"why", plan.compile.why}}},
            {"tune_timing", {{"value", plan.tune_timing.value}, {"why", plan.tune_timing.why}}},
            {"warmup", warmup_json(plan.warmup)},
            {"shapes",
             {{"value", plan.shapes.value},
              {"file", plan.shapes_file},
              {"digest", optional_json(plan.shapes_digest)},
              {"why", plan.shapes.why}}},
            {"plugins", to_json(plan.plugins)},
            {"plugins_left_out", to_json(plan.no_plugins)},
            {"capabilities", plan.capabilities},
            {"environment", environment_json(plan)},
            {"settings",
             {{"level", plan.settings.level},
              {"dtypes", plan.settings.dtypes},
              {"mode", plan.settings.mode},
              {"warmup_ms", plan.settings.warmup_ms},
              {"iteration_ms", plan.settings.iteration_ms}}},
            {"command", plan.command.argv},
            {"working_directory", plan.command.working_directory}};
}

std::string to_text(const Plan& plan) {
    TextTable table({{"what"}, {"value"}, {"why"}});
    const auto row = [&table](const std::string& what, const std::string& value,
                              const std::string& why) {
        table.add_row({what, printable(value), printable(why)});
    };
    row("corpus", fmt::format("{} {}", plan.corpus_name, plan.corpus_root), "");
    row("backend", plan.backend.value, plan.backend.why);
    row("device", fmt::format("{} ({})", plan.device.token, plan.device.device.name),
        plan.device_why);
    for (const auto& node : plan.nodes) row("node", node.id, plan.nodes_why);
    row("timer", plan.timer.value, plan.timer.why);
    if (!plan.fallback_timer.empty() && plan.fallback_timer != plan.timer.value) {
        row("fallback", plan.fallback_timer, "for cases whose graph cannot be captured");
    }
    row("tuning", plan.tune.value, plan.tune.why);
    if (!plan.replay.source.value.empty()) {
        row("winners of", plan.replay.source.value, forgiven(plan.replay));
    }
    if (plan.tune.value != "off") {
        const char* when = plan.compile.overlap ? "" : ", all before the first is timed";
        row("compile jobs", fmt::format("{}{}", plan.compile.jobs, when), plan.compile.why);
        row("tune timing", plan.tune_timing.value, plan.tune_timing.why);
    }
    if (!plan.warmup.why.empty()) {
        const auto tokens = warmup_tokens(plan.warmup);
        row("warm-up", tokens.empty() ? "none" : join(tokens, " "), warmup_text(plan.warmup));
    }
    row("shapes", plan.shapes.value, plan.shapes.why);
    for (const auto& plugin : plan.plugins) row("plugin", plugin.value, plugin.why);
    for (const auto& plugin : plan.no_plugins) row("no plugin", plugin.value, plugin.why);
    for (const auto& variable : plan.environment) {
        row("environment",
            variable.value ? variable.name + "=" + *variable.value : "-" + variable.name,
            variable.why);
    }
    for (const auto& [name, offered] : plan.capabilities) {
        const bool yes = offered == "yes";
        row(yes ? "capability" : "no capability", name, yes ? "" : offered);
    }
    return table.render() + "\ncommand: " + shown_command(plan.command) +
           (plan.command.working_directory.empty()
                ? ""
                : "\nin:      " + plan.command.working_directory) +
           "\n";
}

}  // namespace opgauge
