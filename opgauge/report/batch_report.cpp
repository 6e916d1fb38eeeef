// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/batch_report.h"

#include "opgauge/base/clock.h"
#include "opgauge/base/text.h"
#include "opgauge/base/text_table.h"
#include "opgauge/batch/schedule.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr std::size_t kShownName = 60;
constexpr std::size_t kShownReason = 160;

std::string seconds_text(double seconds) {
    return duration_text(std::chrono::duration<double>(seconds));
}

std::string rows_text(const RowCounts& rows) {
    std::string text = fmt::format("{} rows", rows.ok);
    if (rows.failed + rows.invalid > 0) text += fmt::format(", {} bad", rows.failed + rows.invalid);
    if (rows.flagged > 0) text += fmt::format(", {} flagged", rows.flagged);
    return text;
}

bool has_failed(const BatchItem& item) {
    return item.state == EntryState::finished && !is_good(item.result);
}

}  // namespace

std::string counts_text(const Batch& batch) {
    auto counts = counts_of(batch);
    std::vector<std::string> parts;
    const auto add = [&](const std::string& name) {
        const auto found = counts.find(name);
        if (found == counts.end()) return;
        parts.push_back(fmt::format("{} {}", found->second, printable(name, 30)));
        counts.erase(found);
    };
    add("passed");
    add("skipped");
    while (!counts.empty()) {
        const std::string name = counts.begin()->first;
        if (name == "running" || name == "waiting" || name == "not_run") {
            const auto node = counts.extract(counts.begin());
            parts.push_back(fmt::format("{} {}", node.mapped(), name));
        } else {
            add(name);
        }
    }
    return join(parts, ", ");
}

std::string entry_text(const BatchItem& item) {
    const EntryResult& result = item.result;
    std::string text = fmt::format("{}  {}  {}  {}", printable(item.entry.name, kShownName),
                                   printable(result.status, 30), seconds_text(result.seconds),
                                   rows_text(result.rows));
    if (result.geomean_speedup) {
        text += fmt::format("  speed-up {:.3f} of {}", *result.geomean_speedup, result.geomean_n);
    }
    if (!result.reason.empty()) text += "  " + printable(result.reason, kShownReason);
    return text;
}

std::string batch_text(const Batch& batch) {
    TextTable table({{"operator"}, {"status"}, {"reason"}, {"folder"}});
    for (const auto& item : batch.items) {
        if (!has_failed(item)) continue;
        table.add_row({printable(item.entry.name, kShownName), printable(item.result.status, 30),
                       printable(item.result.reason, kShownReason), item.run_dir});
    }
    std::string text = table.empty() ? std::string() : table.render() + "\n";
    text += counted(batch.items.size(), "operator") + ": " + counts_text(batch) + "\n";
    return text + fmt::format("files: {}\n", batch.folder.string());
}

std::string lane_text(const LaneView& lane, std::chrono::steady_clock::time_point now) {
    return lane_text(to_json(lane, now));
}

std::string lane_text(const Json& lane) {
    std::string text = "device " + printable(get_string(lane, "device"), kShownName);
    const std::string state = get_string(lane, "state");
    if (state == "out") return text + "  out: " + printable(get_string(lane, "why"), kShownReason);
    if (state != "running") return text + "  " + printable(state, 20);
    const double seconds = get_optional<double>(lane, "seconds").value_or(0);
    const int rows = get_optional<int>(lane, "rows").value_or(0);
    text += "  " + printable(get_string(lane, "entry"), kShownName);
    const int index = get_optional<int>(lane, "case_index").value_or(0);
    if (index > 0) {
        text += fmt::format("  case {}", index);
        if (const auto planned = get_optional<int>(lane, "planned")) {
            text += fmt::format(" of {}", *planned);
        }
    } else {
        text += "  " + printable(get_string(lane, "phase"), kShownName);
    }
    if (rows > 0 && seconds > 0) text += fmt::format("  {:.1f} cases/min", 60 * rows / seconds);
    return text + "  " + seconds_text(seconds);
}

std::string totals_text(const Batch& batch, std::size_t lanes) {
    std::string text = counts_text(batch);
    if (const auto left = seconds_left(batch, lanes); left && *left > 0) {
        text += "  about " + seconds_text(*left) + " left";
    }
    return text;
}

}  // namespace opgauge
