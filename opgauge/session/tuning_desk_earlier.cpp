// SPDX-License-Identifier: Apache-2.0
// What the tuning desk knows of the earlier part of a run that is resumed.
#include "opgauge/session/tuning_desk.h"

#include <algorithm>

namespace opgauge {
namespace {

bool is_at(const Winner& winner, const TuningKey& key, const Scope& scope) {
    return winner.key.kernel == key.kernel && winner.key.space == key.space &&
           lookup_text(winner.key.key) == lookup_text(key.key) && winner.scope == scope;
}

}  // namespace

Result<void> TuningDesk::take_up() {
    if (!store_) return {};
    OPGAUGE_TRY_ASSIGN(earlier_, store_->winners());
    return {};
}

const Winner* TuningDesk::earlier_winner(const KeyState& state) const {
    const auto found = std::find_if(earlier_.begin(), earlier_.end(), [&](const Winner& winner) {
        return winner.times.usable() && is_at(winner, state.asked.key, state.asked.scope);
    });
    return found == earlier_.end() ? nullptr : &*found;
}

std::string TuningDesk::winners_digest() const {
    std::vector<Winner> winners;
    for (const auto& [identity, state] : keys_) {
        if (state.winner) winners.push_back(*state.winner);
    }
    for (const auto& earlier : earlier_) {
        const bool known = std::any_of(winners.begin(), winners.end(), [&](const Winner& winner) {
            return is_at(winner, earlier.key, earlier.scope);
        });
        if (!known) winners.push_back(earlier);
    }
    return winners.empty() ? std::string() : opgauge::winners_digest(winners);
}

}  // namespace opgauge
