// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/history_report.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace opgauge {
namespace {

std::string time_or_dash(const std::optional<double>& nanoseconds) {
    return nanoseconds ? time_text(*nanoseconds) : "-";
}

std::string ratio_or_dash(const std::optional<double>& ratio) {
    return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

std::string text_or_dash(const std::string& text, std::size_t limit) {
    return text.empty() ? "-" : printable(text, limit);
}

std::string folder_text(const std::string& directory) {
    std::error_code error;
    const bool there = std::filesystem::exists(directory, error);
    return printable(directory) + (there ? "" : " (gone)");
}

std::string marks_text(const IndexedCase& entry) {
    std::string marks = entry.status == "ok" ? "" : entry.status;
    if (!entry.flags.empty()) marks += (marks.empty() ? "" : ",") + entry.flags;
    return printable(marks, 160);
}

// What a trend is of: the side that is worked on, or the only one.
std::optional<double> watched(const IndexedCase& entry) {
    return entry.candidate_ns ? entry.candidate_ns : entry.base_ns;
}

bool is_clean(const IndexedCase& entry) {
    return entry.status == "ok" && entry.flags.empty() && watched(entry);
}

using Entries = std::vector<const IndexedCase*>;

std::vector<Entries> by_case(const std::vector<IndexedCase>& cases) {
    std::vector<Entries> groups;
    for (const auto& entry : cases) {
        if (groups.empty() || groups.back().front()->case_id != entry.case_id) {
            groups.emplace_back();
        }
        groups.back().push_back(&entry);
    }
    return groups;
}

// Of each entry the time over that of the first clean one; nullopt where either has none.
std::vector<std::optional<double>> changes_of(const Entries& entries) {
    std::optional<double> first;
    std::vector<std::optional<double>> changes;
    for (const auto* entry : entries) {
        std::optional<double> change;
        if (is_clean(*entry)) {
            if (!first) first = watched(*entry);
            change = *watched(*entry) / *first;
        }
        changes.push_back(change);
    }
    return changes;
}

std::string case_text(const Entries& entries) {
    TextTable table({{"begun (UTC)"},
                     {"base", Align::right},
                     {"candidate", Align::right},
                     {"speed-up", Align::right},
                     {"of the first", Align::right},
                     {"run"},
                     {"flags"}});
    const auto changes = changes_of(entries);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const IndexedCase& entry = *entries[i];
        table.add_row({printable(entry.run.created_utc, 40), time_or_dash(entry.base_ns),
                       time_or_dash(entry.candidate_ns), ratio_or_dash(entry.speedup),
                       ratio_or_dash(changes[i]), printable(entry.run.run_id, 60),
                       marks_text(entry)});
    }
    const IndexedCase& first = *entries.front();
    return fmt::format("\n{} {}  caliber {}\n", text_or_dash(first.dtype, 20),
                       text_or_dash(first.shapes, 60), text_or_dash(first.caliber_id, 16)) +
           table.render();
}

}  // namespace

std::string history_text(const std::vector<IndexedRun>& runs) {
    if (runs.empty()) return "no runs; name folders with runs: opgauge history DIR...\n";
    TextTable table({{"begun (UTC)"},
                     {"operator"},
                     {"status"},
                     {"rows", Align::right},
                     {"geomean", Align::right},
                     {"n", Align::right},
                     {"caliber"},
                     {"device"},
                     {"folder"}});
    for (const auto& run : runs) {
        table.add_row({printable(run.created_utc, 40), printable(run.operator_name, 40),
                       printable(run.status, 20), std::to_string(run.rows),
                       ratio_or_dash(run.geomean), std::to_string(run.geomean_n),
                       text_or_dash(run.caliber_id.substr(0, 8), 8), printable(run.device, 40),
                       folder_text(run.directory)});
    }
    return table.render() + counted(runs.size(), "run") + "\n";
}

Json history_json(const std::vector<IndexedRun>& runs) {
    Json list = Json::array();
    for (const auto& run : runs) {
        list.push_back({{"directory", run.directory},
                        {"run_id", run.run_id},
                        {"operator", run.operator_name},
                        {"created_utc", run.created_utc},
                        {"caliber_id", run.caliber_id},
                        {"setup_id", run.setup_id},
                        {"device", run.device},
                        {"status", run.status},
                        {"rows", run.rows},
                        {"geomean_speedup", optional_json(run.geomean)},
                        {"geomean_n", run.geomean_n}});
    }
    return {{"schema_version", 1}, {"runs", list}};
}

std::string trend_text(const std::string& operator_name, const std::vector<IndexedCase>& cases,
                       std::size_t all) {
    std::string text = fmt::format("operator {}\n", printable(operator_name));
    for (const auto& entries : by_case(cases)) text += case_text(entries);
    if (all > cases.size()) {
        text += fmt::format(
            "\n{} rows of other calibers are left out: --caliber ID chooses; "
            "`opgauge compare --factor` sets runs across one side by side\n",
            all - cases.size());
    }
    return text;
}

Json trend_json(const std::string& operator_name, const std::vector<IndexedCase>& cases,
                std::size_t all) {
    Json list = Json::array();
    for (const auto& entries : by_case(cases)) {
        const auto changes = changes_of(entries);
        Json points = Json::array();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const IndexedCase& entry = *entries[i];
            points.push_back({{"created_utc", entry.run.created_utc},
                              {"run_id", entry.run.run_id},
                              {"directory", entry.run.directory},
                              {"status", entry.status},
                              {"flags", entry.flags},
                              {"base_ns", optional_json(entry.base_ns)},
                              {"candidate_ns", optional_json(entry.candidate_ns)},
                              {"speedup", optional_json(entry.speedup)},
                              {"of_the_first", optional_json(changes[i])}});
        }
        const IndexedCase& first = *entries.front();
        list.push_back({{"case_id", first.case_id},
                        {"dtype", first.dtype},
                        {"shapes", first.shapes},
                        {"caliber_id", first.caliber_id},
                        {"points", points}});
    }
    return {{"schema_version", 1},
            {"operator", operator_name},
            {"cases", list},
            {"left_out_of_other_calibers", all - cases.size()}};
}

}  // namespace opgauge
