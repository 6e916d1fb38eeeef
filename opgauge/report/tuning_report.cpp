// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/tuning_report.h"

#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

Json member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? Json(nullptr) : *found;
}

std::string count_text(const Json& kernel, const char* name) {
    return std::to_string(get_optional<long long>(kernel, name).value_or(0));
}

std::string kernels_text(const Json& kernels) {
    TextTable table({{"tuned kernel"},
                     {"tuned", Align::right},
                     {"replayed", Align::right},
                     {"missed", Align::right},
                     {"evicted", Align::right},
                     {"seconds", Align::right}});
    for (const auto& kernel : kernels) {
        table.add_row({printable(get_string(kernel, "kernel"), 60), count_text(kernel, "tuned"),
                       count_text(kernel, "replayed"), count_text(kernel, "missed"),
                       count_text(kernel, "evicted"),
                       fmt::format("{:.2f}", get_optional<double>(kernel, "seconds").value_or(0))});
    }
    return table.empty() ? std::string() : "\n" + table.render();
}

}  // namespace

std::string tuning_text(const RecordedRun& run) {
    if (!run.status) return {};
    std::string text = kernels_text(member(member(*run.status, "tuning"), "kernels"));
    const Json replay = member(*run.status, "replay");
    if (!replay.is_object()) return text;
    return text + fmt::format("{} of {} recorded winners used, from {}\n",
                              count_text(replay, "used"), count_text(replay, "recorded"),
                              printable(get_string(replay, "source")));
}

}  // namespace opgauge
