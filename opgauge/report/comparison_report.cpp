// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/comparison_report.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

bool is_cross(const Comparison& comparison) {
    return comparison.options.rule == CaliberRule::cross;
}

std::string percent(double share) {
    return fmt::format("{:g} %", share * 100);
}

std::string value_text(double value, What what) {
    return what == What::speedup ? fmt::format("{:.3f}", value) : time_text(value);
}

std::string what_text(What what) {
    if (what == What::speedup) return "speed-up; ratio B over A, above 1 is faster";
    return fmt::format("time of {}; ratio B over A, below 1 is faster", name_of(what));
}

std::string arm_line(const Arm& arm) {
    std::string text;
    for (const auto& path : arm.paths) text += (text.empty() ? "" : ", ") + printable(path);
    return fmt::format("{}        {} ({} {})\n", arm.name, text, arm.runs.size(),
                       arm.runs.size() == 1 ? "run" : "runs");
}

std::string fact_of(const Arm& arm, const char* name) {
    if (arm.setups.empty()) return "unknown";
    const Json& facts = arm.setups.front();
    const auto found = facts.find(name);
    if (found == facts.end() || found->is_null()) return "unknown";
    return printable(found->is_string() ? found->get<std::string>() : to_line(*found), 40);
}

// What both arms share, in the facts that a reader asks for first.
std::string caliber_line(const Comparison& comparison) {
    const Arm& arm = comparison.a.setups.empty() ? comparison.b : comparison.a;
    std::vector<std::string> shared;
    for (const char* name :
         {"backend", "device.model", "driver", "torch", "triton", "corpus.name", "corpus.commit"}) {
        const bool differs =
            std::any_of(comparison.differences.begin(), comparison.differences.end(),
                        [&](const FactDifference& difference) { return difference.fact == name; });
        const std::string value = fact_of(arm, name);
        if (differs || value == "unknown") continue;
        shared.push_back(fmt::format("{} {}", name, value));
    }
    std::string text = "caliber  " + join(shared, ", ") + "\n";
    for (const auto& difference : comparison.differences) {
        text += fmt::format("differs  {}\n", to_text(difference));
    }
    return text;
}

std::string rule_line(const Comparison& comparison) {
    const CompareOptions& options = comparison.options;
    if (is_cross(comparison)) {
        return "CROSS-CALIBER: not measured alike, so no verdict; no ratio here says that code is "
               "faster\n";
    }
    std::string text = fmt::format(
        "rule     a difference matters from {} on; false discovery rate {} over {} rows; {} "
        "intervals\n",
        percent(options.verdict.at_least), percent(options.verdict.fdr), comparison.rows.size(),
        percent(options.verdict.confidence));
    if (has_single_processes(comparison)) {
        text += fmt::format(
            "         n = 1/1 is from one process each: {} or more is allowed for what processes "
            "differ by\n",
            percent(options.process_noise));
    }
    return text;
}

std::string verdict_text(const Comparison& comparison, const ComparedRow& row) {
    if (is_cross(comparison)) return "none";
    std::string text(name_of(row.verdict.verdict));
    if (row.evidence.one_process && row.verdict.verdict != Verdict::undecided)
        text += ", one process each";
    return text;
}

std::string next_text(const Comparison& comparison, const ComparedRow& row) {
    if (is_cross(comparison)) return "";
    std::string text(name_of(row.verdict.next));
    const std::size_t fewest = std::min(row.processes_a, row.processes_b);
    if (row.verdict.next == NextStep::more_processes && fewest < comparison.processes_needed) {
        text += fmt::format(" ({} a side)", comparison.processes_needed);
    }
    return text;
}

std::string interval_text(const RowVerdict& verdict) {
    if (!verdict.interval) return "-";
    return fmt::format("{:.3f} to {:.3f}", verdict.interval->first, verdict.interval->second);
}

std::string rows_text(const Comparison& comparison) {
    if (comparison.rows.empty()) return "no case was compared\n";
    TextTable table({{"operator"},
                     {"dtype"},
                     {"shapes"},
                     {"A", Align::right},
                     {"B", Align::right},
                     {"ratio", Align::right},
                     {"interval", Align::right},
                     {"verdict"},
                     {"n"},
                     {"timer"},
                     {"next"}});
    for (const auto& row : comparison.rows) {
        std::vector<std::string> marks = row.flags;
        marks.insert(marks.begin(), row.timer);
        table.add_row({printable(row.work->operator_name, 40), printable(row.work->dtype, 20),
                       printable(row.work->shapes, 60), value_text(row.a, comparison.options.what),
                       value_text(row.b, comparison.options.what),
                       fmt::format("{:.3f}", row.verdict.ratio), interval_text(row.verdict),
                       verdict_text(comparison, row),
                       fmt::format("{}/{}", row.processes_a, row.processes_b),
                       printable(join(marks, ",")), next_text(comparison, row)});
    }
    return table.render();
}

std::string left_out_text(const Comparison& comparison) {
    if (comparison.left_out.empty()) return "";
    TextTable table({{"left out"}, {"operator"}, {"dtype"}, {"shapes"}, {"why"}});
    for (const auto& left_out : comparison.left_out) {
        const std::string why = left_out.arm.empty()
                                    ? left_out.detail
                                    : fmt::format("{}: {}", left_out.arm, left_out.detail);
        table.add_row({std::string(name_of(left_out.kind)),
                       printable(left_out.work->operator_name, 40),
                       printable(left_out.work->dtype, 20), printable(left_out.work->shapes, 60),
                       printable(why, 160)});
    }
    return "\n" + table.render();
}

std::string counts_text(const Comparison& comparison) {
    std::vector<std::string> verdicts;
    for (const auto verdict :
         {Verdict::faster, Verdict::slower, Verdict::same, Verdict::undecided}) {
        verdicts.push_back(fmt::format("{} {}", name_of(verdict), count_of(comparison, verdict)));
    }
    std::vector<std::string> kinds;
    for (const auto kind : {LeftOutKind::only_in_a, LeftOutKind::only_in_b, LeftOutKind::failed,
                            LeftOutKind::flagged, LeftOutKind::timers_differ}) {
        kinds.push_back(fmt::format("{} {}", name_of(kind), count_of(comparison, kind)));
    }
    std::string text =
        fmt::format("\ncompared {}: {}\n", comparison.rows.size(),
                    is_cross(comparison) ? "no verdict across calibers" : join(verdicts, ", "));
    text += fmt::format("left out {}: {}\n", comparison.left_out.size(), join(kinds, ", "));
    std::vector<std::string> dropped;
    for (const auto& [flag, count] : comparison.flagged) {
        dropped.push_back(fmt::format("{} {}", printable(flag), count));
    }
    if (comparison.other_timer_measurements > 0) {
        dropped.push_back(fmt::format("another timer {}", comparison.other_timer_measurements));
    }
    if (comparison.failed_measurements > 0) {
        dropped.push_back(fmt::format("without a number {}", comparison.failed_measurements));
    }
    if (!dropped.empty()) {
        text += fmt::format("measurements of shared cases left out: {}\n", join(dropped, ", "));
    }
    return text;
}

std::string geomean_line(const Comparison& comparison) {
    if (!comparison.geomean_ratio) return "";
    return fmt::format("geometric mean of the ratio {:.3f} (n = {} of {} compared){}\n",
                       *comparison.geomean_ratio, comparison.geomean_n, comparison.rows.size(),
                       is_cross(comparison) ? ", CROSS-CALIBER" : "");
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
    std::string text = arm_line(comparison.a) + arm_line(comparison.b);
    text += fmt::format("what     {}\n", what_text(comparison.options.what));
    text += caliber_line(comparison);
    text += rule_line(comparison);
    text += "\n" + rows_text(comparison) + left_out_text(comparison) + counts_text(comparison) +
            geomean_line(comparison);
    for (const auto& note : comparison.notes) text += "note: " + printable(note) + "\n";
    return text;
}

}  // namespace opgauge
