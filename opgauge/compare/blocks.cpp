// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/blocks.h"

#include "opgauge/measure/statistics.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace opgauge {
namespace {

// Sizes of the pieces that must not be cut: the bursts where they account for all samples, else
// single samples.
std::vector<std::size_t> pieces_of(const SideSamples& side) {
    std::vector<std::size_t> pieces;
    for (const auto& burst : side.bursts) pieces.push_back(burst.samples);
    const std::size_t sum = std::accumulate(pieces.begin(), pieces.end(), std::size_t{0});
    if (sum != side.values_ns.size()) pieces.assign(side.values_ns.size(), 1);
    return pieces;
}

}  // namespace

std::vector<double> block_medians(const SideSamples& side) {
    const std::size_t count = side.values_ns.size();
    const std::size_t least =
        std::max(kLeastSamplesPerBlock, (count + kMostBlocks - 1) / kMostBlocks);
    std::vector<std::size_t> ends;
    std::size_t begin = 0;
    std::size_t end = 0;
    for (const std::size_t piece : pieces_of(side)) {
        end += piece;
        if (end - begin < least) continue;
        ends.push_back(end);
        begin = end;
    }
    if (ends.empty()) return {};
    ends.back() = count;  // the rest is too short for a block of its own
    std::vector<double> medians;
    begin = 0;
    for (const std::size_t block_end : ends) {
        const std::span<const double> values(side.values_ns);
        medians.push_back(summarize(values.subspan(begin, block_end - begin))->median);
        begin = block_end;
    }
    return medians;
}

}  // namespace opgauge
