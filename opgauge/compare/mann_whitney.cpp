// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/mann_whitney.h"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace opgauge {
namespace {

using Distribution = std::vector<double>;  // P(U = u) for u = 0, 1, ...

// The largest of all i + j values belongs to the second sample with probability j / (i + j), and
// then exceeds all i of the first: P(i,j)(u) = j/(i+j) P(i,j-1)(u-i) + i/(i+j) P(i-1,j)(u).
Distribution exact(std::size_t m, std::size_t n) {
    std::vector<Distribution> row(n + 1, Distribution{1.0});  // those of i = 0
    for (std::size_t i = 1; i <= m; ++i) {
        row[0] = {1.0};
        for (std::size_t j = 1; j <= n; ++j) {
            const double second = static_cast<double>(j) / static_cast<double>(i + j);
            Distribution next(i * j + 1, 0.0);
            for (std::size_t u = 0; u < row[j - 1].size(); ++u) {
                next[u + i] += second * row[j - 1][u];
            }
            for (std::size_t u = 0; u < row[j].size(); ++u) next[u] += (1 - second) * row[j][u];
            row[j] = std::move(next);
        }
    }
    return row[n];
}

// With a correction for continuity.
std::vector<double> approximate_lower_tails(std::size_t m, std::size_t n) {
    const double pairs = static_cast<double>(m) * static_cast<double>(n);
    const boost::math::normal_distribution<double> normal(
        pairs / 2, std::sqrt(pairs * static_cast<double>(m + n + 1) / 12));
    std::vector<double> tails;
    for (std::size_t u = 0; u <= m * n; ++u) {
        tails.push_back(boost::math::cdf(normal, static_cast<double>(u) + 0.5));
    }
    return tails;
}

}  // namespace

const std::vector<double>& MannWhitney::lower_tails(std::size_t m, std::size_t n) {
    const auto found = known_.find({m, n});
    if (found != known_.end()) return found->second;
    std::vector<double> tails;
    if (std::max(m, n) > kExactSize) {
        tails = approximate_lower_tails(m, n);
    } else {
        double sum = 0;
        for (const double share : exact(m, n)) tails.push_back(sum += share);
    }
    return known_.emplace(std::pair{m, n}, std::move(tails)).first->second;
}

double MannWhitney::upper_tail(std::size_t m, std::size_t n, std::size_t u) {
    // U is symmetric about m n / 2, and the lower tail is a sum of few terms where it is small.
    if (u > m * n) return 0;
    return std::min(1.0, lower_tails(m, n)[m * n - u]);
}

double MannWhitney::smallest_p(std::size_t m, std::size_t n) {
    if (m == 0 || n == 0) return 1;
    return std::min(1.0, 2 * upper_tail(m, n, m * n));
}

std::optional<std::size_t> MannWhitney::interval_rank(std::size_t m, std::size_t n,
                                                      double confidence) {
    if (m == 0 || n == 0) return std::nullopt;
    const std::vector<double>& tails = lower_tails(m, n);
    const auto beyond = std::upper_bound(tails.begin(), tails.end(), (1 - confidence) / 2);
    if (beyond == tails.begin()) return std::nullopt;
    return static_cast<std::size_t>(beyond - tails.begin()) - 1;
}

}  // namespace opgauge
