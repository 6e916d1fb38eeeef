// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/statistics.h"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>

namespace opgauge {

std::optional<double> Summary::relative_precision() const {
    if (!median_interval || median <= 0) return std::nullopt;
    return (median_interval->second - median_interval->first) / 2.0 / median;
}

double quantile_of_sorted(std::span<const double> sorted, double p) {
    const double position = p * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = position - static_cast<double>(below);
    return sorted[below] + share * (sorted[above] - sorted[below]);
}

std::optional<std::pair<std::size_t, std::size_t>> median_interval_ranks(std::size_t count,
                                                                         double confidence) {
    if (count == 0) return std::nullopt;
    const boost::math::binomial_distribution<double> below_median(static_cast<double>(count), 0.5);
    const double tail = (1.0 - confidence) / 2.0;
    // The largest k with P(at most k-1 samples lie below the median) <= tail; the interval runs
    // from the k-th smallest to the k-th largest sample.
    std::size_t k = 0;
    while (k < count / 2 && boost::math::cdf(below_median, static_cast<double>(k)) <= tail) ++k;
    if (k == 0) return std::nullopt;
    return std::pair{k - 1, count - k};
}

std::optional<Summary> summarize(std::span<const double> values) {
    if (values.empty()) return std::nullopt;
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    Summary summary;
    summary.count = sorted.size();
    summary.median = quantile_of_sorted(sorted, 0.5);
    summary.lower_quartile = quantile_of_sorted(sorted, 0.25);
    summary.upper_quartile = quantile_of_sorted(sorted, 0.75);
    summary.minimum = sorted.front();
    summary.maximum = sorted.back();
    const double reach = 1.5 * (summary.upper_quartile - summary.lower_quartile);
    summary.outliers =
        static_cast<std::size_t>(std::count_if(sorted.begin(), sorted.end(), [&](double value) {
            return value < summary.lower_quartile - reach || value > summary.upper_quartile + reach;
        }));
    if (const auto ranks = median_interval_ranks(sorted.size(), 0.95)) {
        summary.median_interval = std::pair{sorted[ranks->first], sorted[ranks->second]};
    }
    return summary;
}

std::optional<double> geometric_mean(std::span<const double> values) {
    if (values.empty()) return std::nullopt;
    double sum = 0;
    for (const double value : values) {
        if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace opgauge
