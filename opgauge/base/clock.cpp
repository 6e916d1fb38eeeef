// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>

namespace opgauge {

std::chrono::steady_clock::time_point SystemClock::now() const {
    return std::chrono::steady_clock::now();
}

std::chrono::system_clock::time_point SystemClock::wall_time() const {
    return std::chrono::system_clock::now();
}

std::string utc_text(std::chrono::system_clock::time_point time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string utc_file_stamp(std::chrono::system_clock::time_point time) {
    return fmt::format("{:%Y%m%dT%H%M%S}Z",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string duration_text(std::chrono::duration<double> duration) {
    const double seconds = duration.count();
    // The borders lie where rounding would reach the next unit: never "1000 ms" or "60.0 s".
    if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
    if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<long>(std::lround(seconds));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, (whole % 3600) / 60);
}

}  // namespace opgauge
