// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/status_table.h"

#include "opgauge/base/csv.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace opgauge {
namespace {

std::string number(const std::optional<int>& value) {
    return value ? std::to_string(*value) : std::string();
}

// "throttled 2; shared_device 1"
std::string markers_text(const std::map<std::string, int>& markers) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : markers) parts.push_back(fmt::format("{} {}", name, count));
    return join(parts, "; ");
}

std::string status_of(const BatchItem& item) {
    switch (item.state) {
        case EntryState::running:
            return "running";
        case EntryState::finished:
            return item.result.status;
        case EntryState::pending:
        case EntryState::not_run:
            break;
    }
    return "not_run";
}

// An entry whose turn never came has made none.
bool has_folder(const BatchItem& item) {
    return item.attempts > 0 || item.resume || item.state == EntryState::finished;
}

}  // namespace

std::string status_head() {
    static const std::vector<std::string> kColumns = {
        "op",      "status", "exit",    "signal",      "seconds",      "backend",         "device",
        "timer",   "tuning", "rows_ok", "rows_failed", "rows_flagged", "geomean_speedup", "markers",
        "run_dir", "error"};
    return csv_line(kColumns);
}

std::string status_line_of(const BatchItem& item, const std::string& backend) {
    const EntryResult& result = item.result;
    const bool ended = item.state == EntryState::finished;
    const auto if_ended = [&](std::string text) { return ended ? text : std::string(); };
    std::vector<std::string> cells = {
        item.entry.name,
        status_of(item),
        number(result.exit),
        number(result.signal),
        if_ended(fmt::format("{:.3f}", result.seconds)),
        backend,
        result.device.empty() ? item.lane : result.device,
        result.timer,
        result.tuning,
        if_ended(std::to_string(result.rows.ok)),
        if_ended(std::to_string(result.rows.failed + result.rows.invalid)),
        if_ended(std::to_string(result.rows.flagged)),
        result.geomean_speedup ? fmt::format("{:.6g}", *result.geomean_speedup) : std::string(),
        markers_text(result.markers),
        has_folder(item) ? item.run_dir : std::string(),
        result.reason};
    for (auto& cell : cells) cell = printable(cell);
    return csv_line(cells);
}

}  // namespace opgauge
