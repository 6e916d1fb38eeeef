// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/published_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <vector>

namespace opgauge {
namespace {

constexpr double kMinimumTimeNs = 0.5e9;
constexpr double kMaximumNoise = 0.005;
constexpr std::size_t kNoiseWindow = 512;
constexpr std::size_t kNoiseAtLeast = 64;
constexpr std::size_t kNoiseEvery = 16;
constexpr double kNoiseChange = 0.05;
constexpr std::size_t kEntropyWindow = 299;
constexpr double kMaximumAngle = 0.048;
constexpr double kMinimumR2 = 0.36;
constexpr std::size_t kFewestForDeviation = 5;

template <typename Values>
double deviation(const Values& values, double mean) {
    if (values.size() < kFewestForDeviation) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const double value : values) sum += (value - mean) * (value - mean);
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

// Entropy in bits after each of the last kEntropyWindow samples.
std::vector<double> entropies(std::span<const double> values) {
    const std::size_t before = values.size() - std::min(values.size(), kEntropyWindow);
    std::vector<double> window;
    std::map<double, double> counts;
    for (std::size_t i = 0; i < values.size(); ++i) {
        ++counts[values[i]];
        if (i < before) continue;
        const auto total = static_cast<double>(i + 1);
        double entropy = 0;
        for (const auto& [key, count] : counts) entropy -= count / total * std::log2(count / total);
        window.push_back(entropy);
    }
    return window;
}

// Relative standard deviation of all samples up to each one; those of the last kNoiseWindow that
// have one, oldest first.
class Noise {
  public:
    explicit Noise(std::span<const double> values) : values_(values) {
        double sum = 0;
        for (const double value : values) sums_.push_back(sum += value);
    }
    double sum() const { return sums_.empty() ? 0 : sums_.back(); }

    std::vector<double> last(std::size_t most) const {
        std::vector<double> noise;
        for (std::size_t count = values_.size(); count > 0 && noise.size() < most; --count) {
            const double mean = sums_[count - 1] / static_cast<double>(count);
            const double relative = deviation(values_.first(count), mean) / mean;
            if (std::isfinite(relative)) noise.push_back(relative);
        }
        std::reverse(noise.begin(), noise.end());
        return noise;
    }

  private:
    std::span<const double> values_;
    std::vector<double> sums_;
};

struct Line {
    double slope = 0;
    double r2 = 0;
};

// Least squares over 0, 1, 2, ...
Line fit(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    const double mean_y = std::accumulate(values.begin(), values.end(), 0.0) / n;
    const double mean_x = (n - 1) / 2;
    double xy = 0;
    double xx = 0;
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = static_cast<double>(i) - mean_x;
        xy += x * (values[i] - mean_y);
        xx += x * x;
        total += (values[i] - mean_y) * (values[i] - mean_y);
    }
    Line line;
    line.slope = xy / xx;
    double rest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double at = mean_y + line.slope * (static_cast<double>(i) - mean_x);
        rest += (values[i] - at) * (values[i] - at);
    }
    // A flat line explains everything.
    line.r2 = total > 0 ? 1 - rest / total : 1.0;
    return line;
}

}  // namespace

bool stdrel_is_finished(std::span<const double> values_ns, int calls_per_sample) {
    const Noise all(values_ns);
    if (all.sum() * calls_per_sample <= kMinimumTimeNs) return false;
    const auto newest = all.last(1);
    if (newest.empty()) return false;
    if (newest.back() < kMaximumNoise) return true;
    // Each value takes a pass over all samples: none before it is sure to be needed.
    if (values_ns.size() % kNoiseEvery != 0) return false;
    const auto noise = all.last(kNoiseWindow);
    if (noise.size() <= kNoiseAtLeast) return false;
    return deviation(noise, noise.back()) / noise.back() < kNoiseChange;
}

bool entropy_is_finished(std::span<const double> values_ns) {
    if (values_ns.size() < 2 || values_ns.size() % 2 != 0) return false;
    const Line line = fit(entropies(values_ns));
    const double degrees = std::atan(line.slope) * 180.0 / std::numbers::pi;
    return degrees <= kMaximumAngle && line.r2 >= kMinimumR2;
}

}  // namespace opgauge
