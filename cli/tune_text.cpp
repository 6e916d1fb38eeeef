// SPDX-License-Identifier: Apache-2.0
#include "cli/tune_text.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"

#include <fmt/format.h>

#include <cmath>

namespace opgauge::cli {

std::string milliseconds(double value) {
    if (std::isnan(value)) return "unknown";
    return std::isinf(value) ? "does not work" : fmt::format("{:.6f} ms", value);
}

Json tuned_json(const TunedConfig& tuned) {
    return {{"kernel", tuned.key.kernel},
            {"space", tuned.key.space},
            {"key", tuned.key.key},
            {"raw_key", tuned.key.raw_key},
            {"config", tuned.config},
            {"p50_ms", time_json(tuned.times.p50)},
            {"p20_ms", time_json(tuned.times.p20)},
            {"p80_ms", time_json(tuned.times.p80)},
            {"conditions", name_of(tuned.conditions)},
            {"scope", to_json(tuned.scope)}};
}

std::string tuned_text(const std::vector<TunedConfig>& all) {
    TextTable table({{"kernel"}, {"key"}, {"configuration"}, {"p50", Align::right}, {"taken"}});
    for (const auto& tuned : all) {
        table.add_row({printable(tuned.key.kernel, 60), printable(lookup_text(tuned.key.key), 120),
                       config_text(tuned.config), milliseconds(tuned.times.p50),
                       std::string(name_of(tuned.conditions))});
    }
    return table.empty() ? "" : table.render();
}

Json merge_json(const MergeReport& report) {
    Json disagreements = Json::array();
    for (const auto& one : report.disagreements) {
        Json sides = Json::array();
        for (const auto& side : one.sides) {
            sides.push_back({{"store", side.store},
                             {"config", side.config},
                             {"p50_ms", time_json(side.times.p50)},
                             {"conditions", name_of(side.conditions)}});
        }
        disagreements.push_back({{"kernel", one.kernel},
                                 {"space", one.space},
                                 {"key", one.key},
                                 {"sides", sides},
                                 {"chosen", one.chosen}});
    }
    return {{"stores", report.stores},
            {"winners_read", report.winners_read},
            {"timings_read", report.timings_read},
            {"keys_in_several_stores", report.keys_in_several_stores},
            {"winners", report.after.winners},
            {"timings", report.after.timings},
            {"disagreements", disagreements},
            {"problems", report.problems}};
}

std::string merge_text(const MergeReport& report) {
    std::string text = fmt::format(
        "{} stores read: {} winners, {} timings; now {} winners, {} timings\n", report.stores,
        report.winners_read, report.timings_read, report.after.winners, report.after.timings);
    text += report.keys_in_several_stores == 0
                ? "agreement unknown: no key is in two stores\n"
                : fmt::format("{} keys in several stores, {} differ\n",
                              report.keys_in_several_stores, report.disagreements.size());
    for (const auto& one : report.disagreements) {
        text += fmt::format("differs: {} at {}\n", printable(one.kernel), printable(one.key));
        for (const auto& side : one.sides) {
            const bool chosen = config_id(side.config) == config_id(one.chosen);
            text += fmt::format("  {} {}  {}  {}  {}\n", chosen ? "*" : " ", printable(side.store),
                                config_text(side.config), milliseconds(side.times.p50),
                                name_of(side.conditions));
        }
    }
    for (const auto& problem : report.problems) text += fmt::format("problem: {}\n", problem);
    return text;
}

}  // namespace opgauge::cli
