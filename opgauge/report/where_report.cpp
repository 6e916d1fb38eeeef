// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/where_report.h"

#include "opgauge/base/clock.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

std::string seconds_text(double seconds) {
    return duration_text(std::chrono::duration<double>(seconds));
}

std::string share_text(double part, double whole) {
    return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

// What a part is, for those who have not read the page.
std::string part_text(TimePart part) {
    switch (part) {
        case TimePart::start:
            return "starting: lane, plan, child";
        case TimePart::imports:
            return "importing framework and corpus";
        case TimePart::inputs:
            return "the corpus between cases: inputs";
        case TimePart::first_calls:
            return "first calls, warming, recording graphs";
        case TimePart::compile:
            return "compiling kernels";
        case TimePart::tune:
            return "timing configurations";
        case TimePart::warmup:
            return "the warm-up";
        case TimePart::measure:
            return "measuring";
        case TimePart::check:
            return "checking outputs and timers";
        case TimePart::wait:
            return "waiting for the turn or the measuring section";
        case TimePart::end:
            return "ending: child, files, memory, health";
        case TimePart::lost:
            return "lost: dead lanes, repeated attempts";
        case TimePart::idle:
            return "idle: no work for the lane";
        case TimePart::other:
        case TimePart::count_:
            break;
    }
    return "nothing that is known";
}

}  // namespace

std::vector<std::string> time_head(const BatchTime& time) {
    if (time.known == 0 && !time.lane_seconds) {
        const char* why = time.unknown > 0
                              ? "; it was measured by an opgauge that kept no such facts"
                              : "; no operator has ended";
        return {fmt::format("where the time went: unknown{}", why)};
    }
    std::vector<std::string> lines = {
        fmt::format("where the time went: {} of lanes (lanes that run side by side count each)",
                    seconds_text(time.lane_seconds.value_or(time.parts.sum())))};
    if (!time.lane_seconds) {
        lines.emplace_back("of operators alone: the lanes' own start and idle time is not known");
    }
    if (time.unknown > 0) {
        lines.push_back(fmt::format("{} do not say where their time went",
                                    counted(time.unknown, "ended operator")));
    }
    if (time.unfinished > 0) {
        lines.push_back(
            fmt::format("{} not ended and in no part yet", counted(time.unfinished, "operator")));
    }
    return lines;
}

ReportTable parts_table(const BatchTime& time) {
    ReportTable table;
    table.columns = {{"part"}, {"time", Align::right}, {"share", Align::right}, {"what"}};
    std::vector<TimePart> parts;
    for (int i = 0; i < static_cast<int>(TimePart::count_); ++i) {
        if (time.parts[static_cast<TimePart>(i)] > 0) parts.push_back(static_cast<TimePart>(i));
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [&](TimePart a, TimePart b) { return time.parts[a] > time.parts[b]; });
    const double whole = time.parts.sum();
    for (const TimePart part : parts) {
        table.rows.push_back({std::string(name_of(part)), seconds_text(time.parts[part]),
                              share_text(time.parts[part], whole), part_text(part)});
    }
    return table;
}

ReportTable costliest_table(const BatchTime& time) {
    ReportTable table;
    table.columns = {{"operator"},   {"time", Align::right},  {"of all", Align::right},
                     {"most of it"}, {"share", Align::right}, {"what would shorten it"}};
    const double whole = time.parts.sum();
    for (const auto& one : time.costliest) {
        const double seconds = one.parts.sum();
        table.rows.push_back({one.name, seconds_text(seconds), share_text(seconds, whole),
                              std::string(name_of(one.largest)),
                              share_text(one.parts[one.largest], seconds), one.hint});
    }
    return table;
}

std::string where_text(const BatchTime& time) {
    std::string text;
    for (const auto& line : time_head(time)) text += line + "\n";
    const ReportTable parts = parts_table(time);
    if (parts.rows.empty()) return text;
    text += "\n" + table_text(parts);
    if (time.costliest.empty()) return text;
    text += time.known > time.costliest.size() ? fmt::format("\nthe {} costliest of {} operators\n",
                                                             time.costliest.size(), time.known)
                                               : std::string("\n");
    return text + table_text(costliest_table(time));
}

}  // namespace opgauge
