// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/latency_report.h"

#include "opgauge/base/csv.h"
#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

std::string at(const Json& identity, const char* pointer, const char* otherwise = "unknown") {
    const Json::json_pointer path{std::string(pointer)};
    if (!identity.contains(path) || identity.at(path).is_null()) return otherwise;
    const Json& value = identity.at(path);
    return printable(value.is_string() ? value.get<std::string>() : to_line(value));
}

std::string median_text(const std::optional<SideResult>& side) {
    return side && side->summary ? time_text(side->summary->median) : "-";
}

std::string timer_text(const Row& row) {
    const auto& side = row.candidate ? row.candidate : row.base;
    return side ? side->timer : "-";
}

std::string precision_text(const Row& row) {
    const auto precision = row.precision();
    return precision ? fmt::format("{:.2f} %", *precision * 100) : "-";
}

std::string flags_text(const Row& row) {
    std::vector<std::string> flags;
    if (row.status != RowStatus::ok) flags.emplace_back(name_of(row.status));
    if (!row.fallback.empty()) flags.push_back("fallback=" + printable(row.fallback));
    for (const auto& flag : row.flags) flags.push_back(printable(flag));
    return join(flags, ",");
}

// "flaggems 1a2b3c4d5e6f with changes": enough of the commit to tell revisions apart.
std::string corpus_text(const Json& identity) {
    constexpr std::size_t kShownDigits = 12;
    std::string text = at(identity, "/corpus/name");
    const std::string commit = at(identity, "/corpus/commit", "");
    if (!commit.empty()) text += fmt::format(" {}", commit.substr(0, kShownDigits));
    if (!at(identity, "/corpus/dirty_digest", "").empty()) text += " with changes";
    return text;
}

std::string header_text(const RecordedRun& run) {
    const Json& identity = run.identity;
    std::string text = fmt::format(
        "opgauge {}  {}\n"
        "device   {} {} ({}), driver {}, runtime {}\n"
        "software corpus {}, torch {}, triton {}, python {}\n"
        "how      timer {}, tuning {}, shapes {}, level {}\n"
        "caliber  {}\n",
        at(identity, "/opgauge_version"), at(identity, "/run_id"), at(identity, "/backend/name"),
        at(identity, "/device/name"), at(identity, "/device/uuid", "no UUID"),
        at(identity, "/driver"), at(identity, "/runtime"), corpus_text(identity),
        at(identity, "/software/torch", "none"), at(identity, "/software/triton", "none"),
        at(identity, "/software/python", "none"), at(identity, "/timer/name"),
        at(identity, "/tuning/mode"), at(identity, "/shapes/source"),
        at(identity, "/settings/level"), at(identity, "/caliber_id", "none: nothing was measured"));
    return text;
}

std::string notes_text(const RecordedRun& run) {
    std::string text;
    for (const auto& row : run.rows) {
        if (!row.reason.empty()) {
            text += fmt::format("case {}: {}: {}\n", row.index, name_of(row.status),
                                printable(row.reason));
        }
        if (!row.fallback.empty()) {
            text += fmt::format("case {}: {}: {}\n", row.index, printable(row.fallback),
                                printable(row.fallback_detail));
        }
    }
    for (const auto& warning : run.warnings) text += "warning: " + warning + "\n";
    return text;
}

std::string closing_text(const RecordedRun& run) {
    const auto [geomean, count] = geomean_speedup(run.rows);
    std::string text;
    if (geomean) {
        text += fmt::format("geometric mean of the speed-up {:.3f} (n = {} of {} rows)\n", *geomean,
                            count, run.rows.size());
    }
    if (!run.status) {
        text += "INCOMPLETE: this run has no status.json; it was cut off\n";
    } else if (get_string(*run.status, "status") != "passed") {
        text += fmt::format("{}: {}\n", get_string(*run.status, "status"),
                            printable(get_string(*run.status, "reason")));
    }
    return text;
}

std::string number_or_empty(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
}

std::vector<std::string> csv_side(const std::optional<SideResult>& side) {
    if (!side || !side->summary) return {"", "", "", ""};
    return {
        fmt::format("{}", side->summary->median), fmt::format("{}", side->summary->lower_quartile),
        fmt::format("{}", side->summary->upper_quartile), fmt::format("{}", side->summary->count)};
}

}  // namespace

std::string time_text(double nanoseconds) {
    if (nanoseconds < 1e3) return fmt::format("{:.1f} ns", nanoseconds);
    if (nanoseconds < 1e6) return fmt::format("{:.2f} us", nanoseconds / 1e3);
    if (nanoseconds < 1e9) return fmt::format("{:.3f} ms", nanoseconds / 1e6);
    return fmt::format("{:.3f} s", nanoseconds / 1e9);
}

std::pair<std::optional<double>, std::size_t> geomean_speedup(const std::vector<Row>& rows) {
    std::vector<double> speedups;
    for (const auto& row : rows) {
        const auto speedup = row.speedup();
        if (speedup && row.flags.empty()) speedups.push_back(*speedup);
    }
    return {geometric_mean(speedups), speedups.size()};
}

std::string latency_text(const RecordedRun& run) {
    TextTable table({{"case", Align::right},
                     {"operator"},
                     {"dtype"},
                     {"shapes"},
                     {"base", Align::right},
                     {"candidate", Align::right},
                     {"speed-up", Align::right},
                     {"precision", Align::right},
                     {"timer"},
                     {"flags"}});
    for (const auto& row : run.rows) {
        const auto speedup = row.speedup();
        table.add_row({std::to_string(row.index), printable(row.work.operator_name, 40),
                       printable(row.work.dtype, 20), printable(shapes_text(row.work), 60),
                       median_text(row.base), median_text(row.candidate),
                       speedup ? fmt::format("{:.3f}", *speedup) : "-", precision_text(row),
                       timer_text(row), flags_text(row)});
    }
    std::string text = header_text(run) + "\n";
    text += run.rows.empty() ? "no rows\n" : table.render();
    const std::string notes = notes_text(run);
    return text + "\n" + notes + closing_text(run);
}

std::vector<std::string> latency_csv_titles() {
    return {"index",
            "operator",
            "dtype",
            "shapes",
            "status",
            "timer",
            "base_median_ns",
            "base_lower_quartile_ns",
            "base_upper_quartile_ns",
            "base_samples",
            "candidate_median_ns",
            "candidate_lower_quartile_ns",
            "candidate_upper_quartile_ns",
            "candidate_samples",
            "speedup",
            "relative_precision",
            "fallback",
            "flags",
            "reason",
            "case_id",
            "caliber_id"};
}

std::vector<std::string> latency_csv_cells(const Row& row) {
    std::vector<std::string> cells = {
        std::to_string(row.index), row.work.operator_name,           row.work.dtype,
        shapes_text(row.work),     std::string(name_of(row.status)), timer_text(row)};
    for (const auto* side : {&row.base, &row.candidate}) {
        for (auto& cell : csv_side(*side)) cells.push_back(std::move(cell));
    }
    for (auto cell :
         {number_or_empty(row.speedup()), number_or_empty(row.precision()), row.fallback,
          join(row.flags, ";"), row.reason, row.case_id, row.caliber_id}) {
        cells.push_back(std::move(cell));
    }
    return cells;
}

std::string latency_csv(const RecordedRun& run) {
    std::string text = csv_line(latency_csv_titles());
    for (const auto& row : run.rows) text += csv_line(latency_csv_cells(row));
    return text;
}

}  // namespace opgauge
