// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/rerun.h"

#include "opgauge/base/text.h"
#include "opgauge/compare/facts.h"
#include "opgauge/record/caliber.h"
#include "opgauge/record/run_dir.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

const Json& member(const Json& object, const char* name) {
    static const Json kNull = nullptr;
    if (!object.is_object()) return kNull;
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
}

std::string decided(const Json& plan, const char* name) {
    return get_string(member(plan, name), "value");
}

using Marks = std::vector<std::string>;

Marks marks_of(const Json& node) {
    return get_optional<Marks>(node, "marks").value_or(Marks{});
}

// One node by its id; several by the mark that they share.
NodeRequest request_of(const Json& plan) {
    NodeRequest request;
    const Json& nodes = member(member(plan, "nodes"), "value");
    if (!nodes.is_array() || nodes.empty()) return request;
    if (nodes.size() == 1) {
        request.node = get_string(nodes.front(), "id");
        return request;
    }
    for (const auto& mark : marks_of(nodes.front())) {
        const bool shared = std::all_of(nodes.begin(), nodes.end(), [&](const Json& node) {
            const Marks marks = marks_of(node);
            return std::find(marks.begin(), marks.end(), mark) != marks.end();
        });
        if (shared) request.operator_ = mark;
    }
    return request;
}

TuningOptions tuning_of(const RecordedRun& run) {
    TuningOptions tuning;
    const Json& facts = member(run.identity, "tuning");
    tuning.mode = get_string(facts, "mode", "off");
    if (tuning.mode == "off" || get_string(facts, "winners_digest").empty()) return tuning;
    tuning.mode = "replay";
    tuning.from = run.directory.string();
    return tuning;
}

}  // namespace

Result<PlanOptions> options_of_run(const RecordedRun& run, const NodeRequest& asked) {
    const auto plan = read_json_file(run.directory / RunFiles::kPlan);
    if (!plan) {
        return fail(ErrorKind::usage,
                    fmt::format("{}: how it was run is not known: {}; a run of opgauge keeps it",
                                run.directory.string(), plan.error().message));
    }
    PlanOptions options;
    const bool is_native = get_string(member(*plan, "corpus"), "name") == "native";
    options.corpus = is_native ? "native" : get_string(member(*plan, "corpus"), "root");
    const bool named = !asked.node.empty() || !asked.operator_.empty();
    options.request = named ? asked : request_of(*plan);
    if (options.request.node.empty() && options.request.operator_.empty()) {
        return fail(ErrorKind::usage, fmt::format("{}: its plan.json names no node that could be "
                                                  "run again",
                                                  run.directory.string()));
    }
    options.backend = decided(*plan, "backend");
    const Json& device = member(*plan, "device");
    options.devices = get_string(device, "uuid", get_string(device, "token"));
    options.timer = decided(*plan, "timer");
    const Json& timer = member(*plan, "timer");
    // Cold is what those timers do on their own, and no other takes the option.
    if (get_string(member(timer, "settings"), "l2") == "hot" && options.timer == "event") {
        options.l2 = "hot";
    }
    options.heat = get_string(timer, "heat");
    options.tuning = tuning_of(run);
    options.shapes = decided(*plan, "shapes");
    const Json& settings = member(*plan, "settings");
    const std::string level = get_string(settings, "level", "core");
    if (level != "core") options.level = level;
    options.dtypes =
        get_optional<std::vector<std::string>>(settings, "dtypes").value_or(options.dtypes);
    options.warmup_ms = get_optional<int>(settings, "warmup_ms").value_or(0);
    options.iteration_ms = get_optional<int>(settings, "iteration_ms").value_or(0);
    const auto command = get_optional<std::vector<std::string>>(*plan, "command");
    if (!is_native && command && !command->empty()) options.python = command->front();
    return options;
}

StoppingSettings stopping_of_run(const RecordedRun& run) {
    StoppingSettings stopping;
    const Json& settings = member(run.identity, "settings");
    stopping.rule = stopping_rule_named(get_string(settings, "stopping")).value_or(stopping.rule);
    stopping.precision = get_optional<double>(settings, "precision").value_or(stopping.precision);
    stopping.min_samples =
        get_optional<int>(settings, "min_samples").value_or(stopping.min_samples);
    stopping.max_time_s =
        get_optional<double>(settings, "max_time_s").value_or(stopping.max_time_s);
    return stopping;
}

Result<void> check_same_setup(const Json& recorded, const Json& now) {
    if (recorded.is_null()) return {};
    std::vector<std::string> differing;
    for (auto& difference : setup_fact_differences(setup_facts(recorded), setup_facts(now))) {
        // What is not known yet may come from the child; the rows are checked once more at the end.
        if (difference.right.is_null()) continue;
        difference.left_name = "then";
        difference.right_name = "now";
        differing.push_back(to_text(difference));
    }
    if (differing.empty()) return {};
    return fail(
        ErrorKind::refused,
        fmt::format("the caliber of {} is not met here: {}; nothing was started; run it "
                    "where it was run, or compare with `opgauge compare --factor`",
                    printable(get_string(recorded, "run_id", "the run")), join(differing, ", ")));
}

}  // namespace opgauge
