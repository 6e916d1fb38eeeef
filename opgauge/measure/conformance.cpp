// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/conformance.h"

#include "opgauge/base/text.h"
#include "opgauge/measure/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace opgauge {
namespace {

// A pair of events takes 1.6 us on an H200. Ten times that is no timer of kernels.
constexpr double kLongestNullNs = 20e3;
// Vendors promise half a microsecond; events step by 32 ns on an H200.
constexpr double kCoarsestNs = 1e3;
// Smaller differences come from the milliseconds in single precision that runtimes give.
constexpr double kSmallestStepNs = 0.1;
constexpr double kSmallestStep = 1e-6;
constexpr double kShortestWorkNs = 1;

// In so far as they are numbers.
std::vector<double> numbers_of(const Json& facts, std::string_view name) {
    std::vector<double> numbers;
    const auto list = facts.find(std::string(name));
    if (list == facts.end() || !list->is_array()) return numbers;
    for (const auto& value : *list) {
        if (value.is_number() && std::isfinite(value.get<double>())) {
            numbers.push_back(value.get<double>());
        }
    }
    return numbers;
}

// The event timer's samples by the work they are of.
struct EventSamples {
    std::vector<double> null;
    std::vector<double> small;
    std::vector<double> once;
    std::vector<double> twice;
    std::vector<double> host_ratios;  // by the events over by the host's clock
};

std::vector<double> unit_ratios(const Json& facts) {
    std::vector<double> ratios;
    const auto list = facts.find("unit");
    if (list == facts.end() || !list->is_array()) return ratios;
    for (const auto& stretch : *list) {
        const double host = get_optional<double>(stretch, "host_ns").value_or(0);
        const auto event = get_optional<double>(stretch, "event_ns");
        if (event && host > 0) ratios.push_back(*event / host);
    }
    return ratios;
}

Result<EventSamples> event_samples(const Json& facts) {
    EventSamples samples;
    struct Wanted {
        const char* name;
        std::vector<double>* into;
    };
    for (const auto& [name, into] : {Wanted{"null_event_ns", &samples.null},
                                     {"fill_small_event_ns", &samples.small},
                                     {"fill_n_event_ns", &samples.once},
                                     {"fill_2n_event_ns", &samples.twice}}) {
        *into = numbers_of(facts, name);
        if (into->empty()) {
            return fail(ErrorKind::failed,
                        fmt::format("checking the timers: the child told no {}", name));
        }
    }
    samples.host_ratios = unit_ratios(facts);
    if (samples.host_ratios.empty()) {
        return fail(ErrorKind::failed, "checking the timers: the child told no unit");
    }
    return samples;
}

// The smallest difference between two samples of the same work.
std::optional<double> smallest_step(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::optional<double> smallest;
    for (std::size_t i = 1; i < values.size(); ++i) {
        const double step = values[i] - values[i - 1];
        if (step < std::max(kSmallestStepNs, kSmallestStep * std::abs(values[i]))) continue;
        smallest = std::min(smallest.value_or(step), step);
    }
    return smallest;
}

std::optional<double> resolution_of(const EventSamples& samples) {
    std::optional<double> smallest;
    for (const auto* values : {&samples.null, &samples.small, &samples.once, &samples.twice}) {
        const auto step = smallest_step(*values);
        if (step) smallest = std::min(smallest.value_or(*step), *step);
    }
    return smallest;
}

double median_of(const std::vector<double>& values) {
    return summarize(values)->median;
}

ConformanceCheck check(std::string name, std::optional<double> value, double low,
                       std::optional<double> high) {
    ConformanceCheck check{std::move(name), "event", value, low, high, false, ""};
    check.ok = value && *value >= low && (!high || *value <= *high);
    return check;
}

// Only of parts that are times: zero and less would make a ratio of anything.
std::optional<double> ratio(double above, double below) {
    return below > 0 ? std::optional(above / below) : std::nullopt;
}

ConformanceCheck graph_check(const std::vector<double>& graph, double work_ns,
                             const std::string& problem) {
    const auto value = graph.empty() ? std::nullopt : ratio(median_of(graph), work_ns);
    ConformanceCheck result = check("graph_event_ratio", value, 0.85, 1.15);
    result.timer = "graph";
    result.problem = problem;
    return result;
}

}  // namespace

Result<Conformance> judge_conformance(const Json& facts) {
    if (const auto problem = get_optional<std::string>(facts, "problem")) {
        return fail(ErrorKind::failed, "checking the timers: " + printable(*problem));
    }
    if (!facts.is_object()) return fail(ErrorKind::failed, "checking the timers: no facts");
    OPGAUGE_TRY_ASSIGN(const EventSamples samples, event_samples(facts));
    const double null_ns = median_of(samples.null);
    const double work_ns = median_of(samples.once) - null_ns;
    Conformance result;
    result.resolution_ns = resolution_of(samples);
    ConformanceCheck resolution = check("resolution_ns", result.resolution_ns, 0, kCoarsestNs);
    if (!result.resolution_ns) resolution.ok = true;
    result.checks = {
        check("null_pair_ns", null_ns, 0, kLongestNullNs), resolution,
        check("short_fill_ns", median_of(samples.small) - null_ns, kShortestWorkNs, std::nullopt),
        check("twice_the_work_ratio", ratio(median_of(samples.twice) - null_ns, work_ns), 1.8, 2.2),
        check("event_host_ratio", median_of(samples.host_ratios), 0.9, 1.1)};
    const auto graph = numbers_of(facts, "fill_n_graph_ns");
    const std::string problem = printable(get_string(facts, "graph_problem"));
    if (!graph.empty() || !problem.empty()) {
        result.checks.push_back(graph_check(graph, work_ns, problem));
    }
    // Without a hold two events tell how fast the host queues. And the shortest work that there is
    // must never be below the floor, however the null pairs came out.
    if (get_optional<bool>(facts, "hold").value_or(false)) {
        const double shortest = *std::min_element(samples.small.begin(), samples.small.end());
        result.floor_ns = std::max(0.0, std::min(null_ns, shortest));
        const auto empty = numbers_of(facts, "empty_kernel_event_ns");
        if (!empty.empty()) result.empty_kernel_ns = median_of(empty);
    }
    return result;
}

bool Conformance::covers(std::string_view timer) const {
    return std::any_of(checks.begin(), checks.end(),
                       [timer](const ConformanceCheck& c) { return c.timer == timer; });
}

bool Conformance::conforms(std::string_view timer) const {
    if (timer != "event" && timer != "graph") return true;
    return std::all_of(checks.begin(), checks.end(), [timer](const ConformanceCheck& c) {
        return c.ok || (timer == "event" && c.timer == "graph");
    });
}

double Conformance::floor_of(std::string_view timer, int calls) const {
    if (timer != "event" && timer != "graph") return 0;
    return floor_ns / std::max(1, calls);
}

std::vector<std::string> Conformance::failed() const {
    std::vector<std::string> names;
    for (const auto& check : checks) {
        if (!check.ok) names.push_back(check.name);
    }
    return names;
}

Json to_json(const Conformance& conformance) {
    Json checks = Json::array();
    for (const auto& check : conformance.checks) {
        checks.push_back({{"name", check.name},
                          {"timer", check.timer},
                          {"value", optional_json(check.value)},
                          {"bound", {check.low, optional_json(check.high)}},
                          {"ok", check.ok},
                          {"problem", check.problem}});
    }
    return {{"ok", conformance.failed().empty()},
            {"floor_ns", conformance.floor_ns},
            {"empty_kernel_ns", optional_json(conformance.empty_kernel_ns)},
            {"resolution_ns", optional_json(conformance.resolution_ns)},
            {"checks", checks}};
}

}  // namespace opgauge
