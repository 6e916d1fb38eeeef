// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace opgauge {

// What U, the number of pairs in which a value of the second sample exceeds one of the first, is
// like when m and n values come in random order. Exact up to kExactSize values a side, beyond it
// the normal approximation. Remembers what it worked out: one object serves a whole comparison.
class MannWhitney {
  public:
    static constexpr std::size_t kExactSize = 64;

    // P(U >= u). Without ties; a caller with ties counts them against what it wants to show.
    double upper_tail(std::size_t m, std::size_t n, std::size_t u);

    // The smallest two-sided p-value that m and n values can give; 1 where one side has none.
    double smallest_p(std::size_t m, std::size_t n);

    // Zero-based rank k: the k-th smallest and the k-th largest of all m n differences enclose the
    // shift with at least this confidence. nullopt where there are too few values.
    std::optional<std::size_t> interval_rank(std::size_t m, std::size_t n, double confidence);

  private:
    // P(U <= u) for u = 0, 1, ..., m n.
    const std::vector<double>& lower_tails(std::size_t m, std::size_t n);

    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> known_;
};

}  // namespace opgauge
