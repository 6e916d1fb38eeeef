// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace opgauge {

// What many samples of one quantity say. Medians and quartiles, never mean and deviation: times
// are skewed and have outliers. All values in the samples' own unit.
struct Summary {
    std::size_t count = 0;
    double median = 0;
    double lower_quartile = 0;
    double upper_quartile = 0;
    double minimum = 0;
    double maximum = 0;
    std::size_t outliers = 0;  // beyond 1.5 quartile ranges from the quartiles; kept, only counted
    // Distribution-free interval of the median from order statistics, at least 95 %. Absent below
    // six samples, where no such interval exists.
    std::optional<std::pair<double, double>> median_interval;

    // Half the interval's width over the median; what --precision bounds.
    std::optional<double> relative_precision() const;
};

// nullopt for no samples.
std::optional<Summary> summarize(std::span<const double> values);

// The quantile with linear interpolation (Hyndman and Fan type 7) of ascending values, 0 <= p <= 1.
double quantile_of_sorted(std::span<const double> sorted, double p);

// Zero-based ranks (low, high) of the order statistics that enclose the median with at least the
// given confidence, or nullopt where n is too small.
std::optional<std::pair<std::size_t, std::size_t>> median_interval_ranks(std::size_t count,
                                                                         double confidence);

// Geometric mean; nullopt for none or where one is not positive.
std::optional<double> geometric_mean(std::span<const double> values);

}  // namespace opgauge
