// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/conformance_report.h"

#include "opgauge/base/text_table.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

std::string words_of(const std::string& name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {{
        {"null_pair_ns", "two events, nothing between"},
        {"resolution_ns", "smallest step of a sample"},
        {"short_fill_ns", "a fill of 4 KiB, above nothing"},
        {"twice_the_work_ratio", "a fill of 2n bytes over one of n"},
        {"event_host_ratio", "20 ms by events over by the host"},
        {"graph_event_ratio", "a fill by graph over by event"},
    }};
    for (const auto& [known, words] : kWords) {
        if (known == name) return std::string(words);
    }
    return name;
}

std::string value_text(const ConformanceCheck& check, double value) {
    return check.name.ends_with("_ns") ? time_text(value) : fmt::format("{:.3f}", value);
}

std::string bound_text(const ConformanceCheck& check) {
    if (!check.high) return "at least " + value_text(check, check.low);
    return fmt::format("{} to {}", value_text(check, check.low), value_text(check, *check.high));
}

std::string verdict_text(const ConformanceCheck& check) {
    if (!check.problem.empty()) return "FAILED: " + check.problem;
    if (!check.value)
        return check.ok ? "ok: no two samples differ" : "FAILED: no time to divide by";
    return check.ok ? "ok" : "FAILED";
}

}  // namespace

std::string conformance_text(const Conformance& conformance) {
    TextTable table({{"check"}, {"value", Align::right}, {"bound"}, {"verdict"}});
    for (const auto& check : conformance.checks) {
        table.add_row({words_of(check.name), check.value ? value_text(check, *check.value) : "-",
                       bound_text(check), verdict_text(check)});
    }
    const std::string floor = conformance.floor_ns > 0
                                  ? time_text(conformance.floor_ns) + " a sample"
                                  : "not known; only zero and less are invalid";
    const std::string empty =
        conformance.empty_kernel_ns
            ? "; a kernel that does nothing takes " + time_text(*conformance.empty_kernel_ns)
            : "";
    return table.render() + "floor: " + floor + empty + "\n";
}

}  // namespace opgauge
