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

// How far the sweeps were compiled ahead of their timing; empty where nothing was.
std::string compiled_text(const Json& kernels) {
    long long ahead = 0;
    long long misses = 0;
    double seconds = 0;
    double cpu = 0;
    double waited = 0;
    for (const auto& kernel : kernels) {
        ahead += get_optional<long long>(kernel, "compiled_ahead").value_or(0);
        misses += get_optional<long long>(kernel, "compile_misses").value_or(0);
        seconds += get_optional<double>(kernel, "compile_seconds").value_or(0);
        cpu += get_optional<double>(kernel, "compile_cpu_seconds").value_or(0);
        waited += get_optional<double>(kernel, "compile_waited_s").value_or(0);
    }
    if (ahead == 0) return {};
    return fmt::format(
        "{} configurations compiled ahead in {:.1f} s ({:.1f} s of the children), {} compiled "
        "again when timed; timing waited {:.1f} s for them\n",
        ahead, seconds, cpu, misses, waited);
}

}  // namespace

std::string tuning_text(const RecordedRun& run) {
    if (!run.status) return {};
    const Json kernels = member(member(*run.status, "tuning"), "kernels");
    std::string text = kernels_text(kernels) + compiled_text(kernels);
    const Json replay = member(*run.status, "replay");
    if (!replay.is_object()) return text;
    return text + fmt::format("{} of {} recorded winners used, from {}\n",
                              count_text(replay, "used"), count_text(replay, "recorded"),
                              printable(get_string(replay, "source")));
}

}  // namespace opgauge
