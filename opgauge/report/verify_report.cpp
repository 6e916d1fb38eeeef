// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/verify_report.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr double kMuchNoise = 0.05;

std::string time_or_dash(double nanoseconds) {
    return nanoseconds > 0 ? time_text(nanoseconds) : "-";
}

std::string names_text(std::string_view what, const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += fmt::format("{}: {}\n", what, printable(name));
    return text;
}

std::string digests_text(const Verification& verification) {
    if (!verification.digests) return "files    " + printable(verification.no_digests) + "\n";
    const DigestCheck& check = *verification.digests;
    const std::string result = check.holds()
                                   ? "as the run left them"
                                   : fmt::format("NOT as the run left them: {} changed, {} missing",
                                                 check.changed.size(), check.missing.size());
    return fmt::format("files    {} with a digest: {}\n", check.files, result) +
           names_text("changed", check.changed) + names_text("missing", check.missing) +
           names_text("added (no fault)", check.added);
}

std::string interval_text(const ReproducedRow& row) {
    if (!row.interval) return "-";
    return fmt::format("{:.3f} to {:.3f}", row.interval->first, row.interval->second);
}

std::string rows_text(const Reproduction& numbers) {
    TextTable table({{"operator"},
                     {"dtype"},
                     {"shapes"},
                     {"side"},
                     {"then", Align::right},
                     {"now", Align::right},
                     {"ratio", Align::right},
                     {"interval", Align::right},
                     {"noise", Align::right},
                     {"result"},
                     {"why"}});
    for (const auto& row : numbers.rows) {
        const bool measured = row.now_ns > 0;
        table.add_row({printable(row.operator_name, 40), printable(row.dtype, 20),
                       printable(row.shapes, 60), std::string(name_of(row.side)),
                       time_or_dash(row.then_ns), time_or_dash(row.now_ns),
                       measured ? fmt::format("{:.3f}", row.ratio) : "-", interval_text(row),
                       measured ? fmt::format("{:.1f} %", row.noise * 100) : "-",
                       std::string(name_of(row.reproduced)), printable(row.why, 160)});
    }
    return table.render();
}

std::string numbers_text(const Reproduction& numbers) {
    const auto noisy =
        std::count_if(numbers.rows.begin(), numbers.rows.end(), [](const ReproducedRow& row) {
            return row.reproduced == Reproduced::yes && row.noise > kMuchNoise;
        });
    std::string text = "\n" + rows_text(numbers);
    text += fmt::format("\nreproduced {}, not reproduced {}, unknown {}\n",
                        numbers.count(Reproduced::yes), numbers.count(Reproduced::no),
                        numbers.count(Reproduced::unknown));
    if (noisy == 0) return text;
    return text + fmt::format(
                      "note: {} of the reproduced have a noise above {:.0f} %; that they "
                      "came again says little\n",
                      noisy, kMuchNoise * 100);
}

Json row_json(const ReproducedRow& row) {
    const bool measured = row.now_ns > 0;
    Json interval = nullptr;
    if (row.interval) interval = {row.interval->first, row.interval->second};
    return {{"operator", row.operator_name},
            {"dtype", row.dtype},
            {"shapes", row.shapes},
            {"side", name_of(row.side)},
            {"then_ns", measured ? Json(row.then_ns) : Json(nullptr)},
            {"now_ns", measured ? Json(row.now_ns) : Json(nullptr)},
            {"ratio", measured ? Json(row.ratio) : Json(nullptr)},
            {"interval", interval},
            {"noise", measured ? Json(row.noise) : Json(nullptr)},
            {"result", name_of(row.reproduced)},
            {"why", row.why}};
}

Json numbers_json(const std::optional<Reproduction>& numbers) {
    if (!numbers) return nullptr;
    Json rows = Json::array();
    for (const auto& row : numbers->rows) rows.push_back(row_json(row));
    return {{"reproduced", numbers->count(Reproduced::yes)},
            {"not_reproduced", numbers->count(Reproduced::no)},
            {"unknown", numbers->count(Reproduced::unknown)},
            {"rows", rows}};
}

}  // namespace

bool Verification::holds() const {
    return (!digests || digests->holds()) && (!numbers || numbers->count(Reproduced::no) == 0);
}

std::string verify_text(const Verification& verification) {
    std::string text = fmt::format("run      {}\n", printable(verification.run_dir));
    text += digests_text(verification);
    if (!verification.numbers) return text;
    return text + fmt::format("again    {}\n", printable(verification.new_run_dir)) +
           numbers_text(*verification.numbers);
}

Json verify_json(const Verification& verification) {
    Json digests = nullptr;
    if (const auto& check = verification.digests) {
        digests = {{"files", check->files},
                   {"changed", check->changed},
                   {"missing", check->missing},
                   {"added", check->added}};
    }
    return {{"schema_version", 1},
            {"run", verification.run_dir},
            {"holds", verification.holds()},
            {"digests", digests},
            {"no_digests", verification.digests ? Json(nullptr) : Json(verification.no_digests)},
            {"new_run", verification.numbers ? Json(verification.new_run_dir) : Json(nullptr)},
            {"numbers", numbers_json(verification.numbers)}};
}

}  // namespace opgauge
