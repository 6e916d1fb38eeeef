// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/samples_report.h"

#include "opgauge/base/text.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

namespace opgauge {
namespace {

constexpr std::size_t kWidth = 72;
constexpr std::size_t kHeight = 10;

// Median of each of at most kWidth equal stretches of time.
std::vector<double> stretches(std::span<const double> values) {
    const std::size_t columns = std::min(kWidth, values.size());
    std::vector<double> medians;
    for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t begin = i * values.size() / columns;
        const std::size_t end = (i + 1) * values.size() / columns;
        medians.push_back(summarize(values.subspan(begin, end - begin))->median);
    }
    return medians;
}

std::size_t level_of(double value, double low, double high) {
    if (high <= low) return 0;
    const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
    return static_cast<std::size_t>(share * static_cast<double>(kHeight - 1) + 0.5);
}

std::string picture(std::span<const double> values) {
    const std::vector<double> medians = stretches(values);
    const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
    std::string text;
    for (std::size_t level = kHeight; level-- > 0;) {
        std::string line;
        for (const double value : medians) {
            line.push_back(level_of(value, *low, *high) == level ? '*' : ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        const bool labelled = level == 0 || level + 1 == kHeight;
        text += fmt::format("{:>10} |{}\n",
                            labelled ? time_text(level == 0 ? *low : *high) : std::string(), line);
    }
    return text;
}

std::string optional_number(const std::optional<double>& value, const char* unit) {
    return value ? fmt::format("{:.0f} {}", *value, unit) : std::string("-");
}

// A line for each stretch of bursts that saw the same of the device.
std::string bursts_text(const SideSamples& samples) {
    std::string text;
    std::string last;
    std::size_t count = 0;
    const auto flush = [&] {
        if (count > 0) text += fmt::format("  {:>5} samples at {}\n", count, last);
    };
    for (const auto& burst : samples.bursts) {
        std::string seen = fmt::format("{}, {}, {}", optional_number(burst.sm_clock_mhz, "MHz"),
                                       optional_number(burst.temperature_celsius, "C"),
                                       optional_number(burst.power_watts, "W"));
        for (const auto& reason : burst.throttle_reasons) seen += ", " + printable(reason);
        if (seen != last) flush();
        count = seen == last ? count + burst.samples : burst.samples;
        last = std::move(seen);
    }
    flush();
    if (samples.dropped_bursts > 0) {
        text += fmt::format("  {} bursts were dropped: the device was slowed down\n",
                            samples.dropped_bursts);
    }
    return text;
}

std::string side_text(std::string_view name, const std::optional<SideSamples>& samples) {
    if (!samples || samples->values_ns.empty()) return fmt::format("{}: no samples\n", name);
    const Summary summary = *summarize(samples->values_ns);
    std::string text =
        fmt::format("{}: timer {}, {} samples of {} calls\n", name, printable(samples->timer),
                    summary.count, samples->calls_per_sample);
    text += picture(samples->values_ns);
    text += fmt::format("  median {}, quartiles {} to {}, range {} to {}, outliers {}\n",
                        time_text(summary.median), time_text(summary.lower_quartile),
                        time_text(summary.upper_quartile), time_text(summary.minimum),
                        time_text(summary.maximum), summary.outliers);
    text += bursts_text(*samples);
    if (const auto precision = summary.relative_precision()) {
        text += fmt::format("  the 95 % interval of the median is {:.2f} % of it to either side\n",
                            *precision * 100);
    }
    return text;
}

}  // namespace

std::string samples_text(const Row& row, const RecordedSamples& samples) {
    std::string text =
        fmt::format("case {}: {} {} {}\n\n", row.index, printable(row.work.operator_name),
                    printable(row.work.dtype), printable(shapes_text(row.work)));
    text += side_text("base", samples.base) + "\n";
    text += side_text("candidate", samples.candidate);
    return text;
}

Json samples_json(const Row& row, const RecordedSamples& samples) {
    const auto side = [](const std::optional<SideSamples>& taken) -> Json {
        if (!taken) return nullptr;
        return {{"timer", taken->timer},
                {"calls_per_sample", taken->calls_per_sample},
                {"values_ns", taken->values_ns}};
    };
    return {{"row", to_json(row)},
            {"base", side(samples.base)},
            {"candidate", side(samples.candidate)}};
}

}  // namespace opgauge
