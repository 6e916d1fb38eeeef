// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/costs.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/plan/cache.h"

#include <cmath>
#include <system_error>

namespace opgauge {
namespace {

std::string cost_line(const std::string& entry, double seconds) {
    return to_line(Json{{"entry", entry}, {"seconds", seconds}});
}

// A line of another form, such as one cut in half, is passed over.
void take_line(std::string_view line, std::map<std::string, double>& seconds) {
    const auto json = parse_json(line, "a line of costs");
    if (!json) return;
    const auto value = get_optional<double>(*json, "seconds");
    const std::string entry = get_string(*json, "entry");
    if (value && std::isfinite(*value) && *value >= 0 && !entry.empty()) seconds[entry] = *value;
}

}  // namespace

EntryCosts EntryCosts::open(const Json& facts, const Environment& environment) {
    EntryCosts costs;
    costs.file_ = cache_folder(environment) / "costs" / (short_digest(to_line(facts)) + ".jsonl");
    const auto text = read_file(costs.file_);
    if (!text) return costs;
    const auto lines = lines_of(*text);
    for (const auto line : lines) take_line(line, costs.seconds_);
    // Old values pile up; what a batch adds meanwhile may be lost, and comes again.
    if (lines.size() > 4 * costs.seconds_.size() + 100) {
        std::string compact;
        for (const auto& [entry, value] : costs.seconds_) compact += cost_line(entry, value) + "\n";
        static_cast<void>(write_file_atomically(costs.file_, compact));
    }
    return costs;
}

void EntryCosts::add(const std::string& entry, double seconds) {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    auto appender = LineAppender::open(file_);
    if (appender) static_cast<void>(appender->append(cost_line(entry, seconds)));
    seconds_[entry] = seconds;
}

}  // namespace opgauge
