// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"
#include "opgauge/report/latency_report.h"
#include "opgauge/report/report_table.h"

#include <fmt/format.h>

// A comparison's file is foreign: whatever it lacks or has of another type shows as "-".
namespace opgauge {
namespace {

// Null where there is no such member.
const Json& member(const Json& object, const char* name) {
    static const Json kNull = nullptr;
    if (!object.is_object()) return kNull;
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
}

// The list as it stands in the file; an empty one where it is none.
const Json& list_in(const Json& object, const char* name) {
    static const Json kNone = Json::array();
    if (!object.is_object()) return kNone;
    const auto found = object.find(name);
    return found != object.end() && found->is_array() ? *found : kNone;
}

std::string value_text(const Json& row, const char* name, bool is_ratio) {
    const auto value = get_optional<double>(row, name);
    if (!value) return "-";
    return is_ratio ? fmt::format("{:.3f}", *value) : time_text(*value);
}

std::string interval_text(const Json& row) {
    const auto interval = get_optional<std::vector<double>>(row, "interval");
    if (!interval || interval->size() != 2) return "-";
    return fmt::format("{:.3f} to {:.3f}", (*interval)[0], (*interval)[1]);
}

std::string processes_text(const Json& row) {
    const auto counts = get_optional<std::vector<int>>(row, "processes");
    if (!counts || counts->size() != 2) return "-";
    return fmt::format("{}/{}", (*counts)[0], (*counts)[1]);
}

std::string flags_text(const Json& row) {
    std::vector<std::string> marks = {get_string(row, "timer")};
    const auto flags = get_optional<std::vector<std::string>>(row, "flags");
    if (flags) marks.insert(marks.end(), flags->begin(), flags->end());
    return join(marks, ",");
}

// "compared" of {"compared": 3} with its parts: "3: faster 1, slower 2".
std::string parts_text(const Json& parts) {
    std::vector<std::string> words;
    if (parts.is_object()) {
        for (const auto& [name, count] : parts.items()) {
            words.push_back(fmt::format("{} {}", printable(name), printable(to_line(count))));
        }
    }
    return words.empty() ? "no verdict across calibers" : join(words, ", ");
}

std::string arm_text(const Json& comparison, const char* name) {
    const Json& arm = member(comparison, name);
    std::vector<std::string> paths;
    for (const auto& path : list_in(arm, "paths")) {
        if (path.is_string()) paths.push_back(printable(path.get<std::string>()));
    }
    const std::size_t runs = list_in(arm, "runs").size();
    return fmt::format("{} ({} {})", join(paths, ", "), runs, runs == 1 ? "run" : "runs");
}

std::string caliber_text(const Json& comparison) {
    const Json& setups = list_in(member(comparison, "a"), "setups");
    std::vector<std::string> facts;
    for (const char* name :
         {"backend", "device.model", "driver", "torch", "triton", "corpus.name", "corpus.commit"}) {
        const Json value = setups.empty() ? Json(nullptr) : member(setups.front(), name);
        if (value.is_null()) continue;
        const std::string text = value.is_string() ? value.get<std::string>() : to_line(value);
        facts.push_back(fmt::format("{} {}", name, printable(text, 40)));
    }
    return "caliber of A: " + (facts.empty() ? std::string("unknown") : join(facts, ", "));
}

std::string difference_text(const Json& difference) {
    const auto side = [&](const char* name) {
        const Json& value = member(difference, name);
        return fmt::format("{}: {}", printable(get_string(value, "name")),
                           printable(to_line(member(value, "value"))));
    };
    return fmt::format("differs: {} ({}, {})", printable(get_string(difference, "fact")),
                       side("left"), side("right"));
}

}  // namespace

ReportTable comparison_table(const Json& comparison) {
    const bool is_ratio = get_string(member(comparison, "options"), "what") == "speedup";
    ReportTable table;
    table.columns = {{"operator"},
                     {"dtype"},
                     {"shapes"},
                     {"A", Align::right},
                     {"B", Align::right},
                     {"ratio", Align::right},
                     {"interval", Align::right},
                     {"verdict"},
                     {"n"},
                     {"flags"},
                     {"next"}};
    for (const auto& row : list_in(comparison, "rows")) {
        table.rows.push_back({get_string(row, "operator"), get_string(row, "dtype"),
                              get_string(row, "shapes"), value_text(row, "a", is_ratio),
                              value_text(row, "b", is_ratio), value_text(row, "ratio", true),
                              interval_text(row), get_string(row, "verdict", "none"),
                              processes_text(row), flags_text(row), get_string(row, "next")});
    }
    return table;
}

ReportTable left_out_table(const Json& comparison) {
    ReportTable table;
    table.columns = {{"left out"}, {"operator"}, {"dtype"}, {"shapes"}, {"why"}};
    for (const auto& entry : list_in(comparison, "left_out")) {
        const std::string arm = get_string(entry, "arm");
        table.rows.push_back({get_string(entry, "kind"), get_string(entry, "operator"),
                              get_string(entry, "dtype"), get_string(entry, "shapes"),
                              (arm.empty() ? "" : arm + ": ") + get_string(entry, "why")});
    }
    return table;
}

std::vector<std::string> comparison_head(const Json& comparison) {
    const Json& options = member(comparison, "options");
    const std::string what = get_string(options, "what", "candidate");
    std::vector<std::string> lines = {
        "A: " + arm_text(comparison, "a"), "B: " + arm_text(comparison, "b"),
        what == "speedup"
            ? "what: speed-up; ratio B over A, above 1 is faster"
            : fmt::format("what: time of {}; ratio B over A, below 1 is faster", printable(what)),
        caliber_text(comparison)};
    for (const auto& difference : list_in(comparison, "differences")) {
        lines.push_back(difference_text(difference));
    }
    if (get_optional<bool>(options, "cross_caliber").value_or(false)) {
        lines.emplace_back(
            "CROSS-CALIBER: not measured alike, so no verdict; no ratio here says "
            "that code is faster");
    } else {
        lines.push_back(
            fmt::format("rule: a difference matters from {:g} % on; false discovery rate {:g} %",
                        get_optional<double>(options, "at_least").value_or(0) * 100,
                        get_optional<double>(options, "fdr").value_or(0) * 100));
    }
    const std::string refused = get_string(comparison, "refused");
    if (!refused.empty()) lines.push_back("REFUSED: " + printable(refused));
    return lines;
}

std::vector<std::string> comparison_counts(const Json& comparison) {
    const Json& counts = member(comparison, "counts");
    std::vector<std::string> lines = {
        fmt::format("compared {}: {}", list_in(comparison, "rows").size(),
                    parts_text(member(counts, "verdicts"))),
        fmt::format("left out {}: {}", list_in(comparison, "left_out").size(),
                    parts_text(member(counts, "left_out")))};
    if (const auto geomean = get_optional<double>(comparison, "geomean_ratio")) {
        lines.push_back(fmt::format("geometric mean of the ratio {:.3f} (n = {} of {} compared)",
                                    *geomean,
                                    get_optional<std::size_t>(comparison, "geomean_n").value_or(0),
                                    list_in(comparison, "rows").size()));
    }
    for (const auto& note : list_in(comparison, "notes")) {
        if (note.is_string()) lines.push_back("note: " + printable(note.get<std::string>()));
    }
    return lines;
}

}  // namespace opgauge
