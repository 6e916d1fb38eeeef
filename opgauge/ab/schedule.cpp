// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/schedule.h"

#include <random>

namespace opgauge {
namespace {

constexpr std::size_t kFewestForEarlyLook = 10;
constexpr double kEarlyShare = 0.5;

}  // namespace

std::vector<std::array<AbArm, 3>> ab_rounds(std::size_t replicates, std::uint64_t seed) {
    using enum AbArm;
    // A Latin square and its mirror image.
    constexpr std::array<std::array<int, 3>, 6> kOrders = {
        {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}};
    constexpr std::array<std::array<AbArm, 3>, 6> kNames = {
        {{a, b, again}, {a, again, b}, {b, a, again}, {b, again, a}, {again, a, b}, {again, b, a}}};
    // No distribution: they differ between standard libraries, and a seed must not.
    std::mt19937_64 random(seed);
    const auto& names = kNames[random() % kNames.size()];
    std::vector<std::array<AbArm, 3>> rounds;
    for (std::size_t i = 0; i < replicates; ++i) {
        const auto& order = kOrders[i % kOrders.size()];
        auto& round = rounds.emplace_back();
        for (std::size_t place = 0; place < round.size(); ++place) {
            round[place] = names[static_cast<std::size_t>(order[place])];
        }
    }
    return rounds;
}

std::vector<Look> ab_looks(std::size_t replicates, bool early) {
    if (!early || replicates < kFewestForEarlyLook) return {{replicates, 1}};
    return {{(replicates * 7 + 9) / 10, kEarlyShare}, {replicates, 1 - kEarlyShare}};
}

}  // namespace opgauge
