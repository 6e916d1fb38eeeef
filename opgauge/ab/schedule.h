// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace opgauge {

// The arms of an A/B: `again` is A once more, so that A against it shows the false alarms.
enum class AbArm { a, b, again };

// The order of the arms in each round; a round has one replicate of every arm. In six rounds each
// arm stands twice at each place and each pair meets three times in each order, so that neither a
// drift nor a price for going first has an arm of its own. The seed says which order comes first.
std::vector<std::array<AbArm, 3>> ab_rounds(std::size_t replicates, std::uint64_t seed);

// A moment at which the verdicts are looked at, and the share of all error rates that it may use.
struct Look {
    std::size_t replicates = 0;
    double share = 1;
};

// The shares add up to 1, so that looking early costs no more false verdicts than looking once
// (docs/ab.md). `early`: whether it may end before the last replicate.
std::vector<Look> ab_looks(std::size_t replicates, bool early);

}  // namespace opgauge
