// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/time_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opgauge {
namespace {

constexpr std::size_t kParts = static_cast<std::size_t>(TimePart::count_);
constexpr std::array<std::string_view, kParts> kNames = {
    "start",   "import", "inputs", "first_calls", "compile", "tune", "warmup",
    "measure", "check",  "wait",   "end",         "lost",    "idle", "other"};
constexpr double kMicro = 1e6;

bool only_where_any(std::size_t part) {
    const auto named = static_cast<TimePart>(part);
    return named == TimePart::lost || named == TimePart::idle || named == TimePart::warmup;
}

}  // namespace

std::string_view name_of(TimePart part) {
    return kNames.at(static_cast<std::size_t>(part));
}

std::optional<TimePart> time_part_named(std::string_view name) {
    const auto* found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<TimePart>(found - kNames.begin());
}

double TimeParts::sum() const {
    return std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
}

void TimeParts::add(const TimeParts& more) {
    for (std::size_t i = 0; i < kParts; ++i) seconds_[i] += more.seconds_[i];
}

void TimeParts::fit_to(double wall) {
    const double known = sum();
    if (known > wall) {
        for (double& seconds : seconds_) seconds *= wall / known;
    } else {
        (*this)[TimePart::other] += wall - known;
    }
}

TimePart TimeParts::largest() const {
    const auto* most = std::max_element(seconds_.begin(), seconds_.end());
    return static_cast<TimePart>(most - seconds_.begin());
}

Json to_json(const TimeParts& parts) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kParts; ++i) {
        const double seconds = std::round(parts[static_cast<TimePart>(i)] * kMicro) / kMicro;
        if (seconds > 0 || !only_where_any(i)) json[std::string(kNames[i])] = seconds;
    }
    return json;
}

std::optional<TimeParts> time_parts_in(const Json& json) {
    if (!json.is_object()) return std::nullopt;
    TimeParts parts;
    for (std::size_t i = 0; i < kParts; ++i) {
        const auto seconds = get_optional<double>(json, kNames[i]);
        if (seconds && std::isfinite(*seconds) && *seconds > 0) {
            parts[static_cast<TimePart>(i)] = *seconds;
        }
    }
    return parts;
}

}  // namespace opgauge
