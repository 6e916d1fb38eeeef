// SPDX-License-Identifier: Apache-2.0
// What the tuning desk makes of keys that were tuned before the run, on several devices.
#include "opgauge/session/tuning_desk.h"

#include <algorithm>
#include <iterator>

namespace opgauge {
namespace {

// A corpus may store timings under a longer key than the winner's: that one with more behind it.
bool belongs_to(const Timing& timing, const Winner& winner) {
    if (timing.key.kernel != winner.key.kernel || timing.scope != winner.scope) return false;
    const Json& longer = timing.key.key;
    const Json& shorter = winner.key.key;
    if (!longer.is_array() || !shorter.is_array()) return longer == shorter;
    if (longer.size() < shorter.size()) return false;
    const Json beginning(Json::array_t(
        longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(shorter.size())));
    return lookup_text(beginning) == lookup_text(shorter);
}

}  // namespace

std::string place_of(std::string_view kernel, std::string_view space, std::string_view lookup,
                     const Scope& scope) {
    return to_line(Json::array({kernel, space, lookup, to_json(scope)}));
}

Result<Json> TuningDesk::answer_warmed(KeyState& state) {
    auto found = warmed_->winners.find(state.asked.key, state.asked.scope);
    auto* warmed = std::get_if<Replayed>(&found);
    if (warmed == nullptr) {
        state.not_warmed = true;
        flag(state, "not_warmed");
        return tune_answer(state);
    }
    const auto& key = state.asked.key;
    // By the winner's own scope, as the merge saw it: the child's may lack facts.
    const auto disputed = warmed_->disputed.find(
        place_of(key.kernel, key.space, lookup_text(key.key), warmed->winner.scope));
    if (warmed_->confirm == WarmedKeys::Confirm::all) {
        state.confirming = true;
        return tune_answer(state);
    }
    if (warmed_->confirm == WarmedKeys::Confirm::disputed && disputed != warmed_->disputed.end()) {
        state.confirming = true;
        Json answer = tune_answer(state);
        answer["only"] = disputed->second;
        return answer;
    }
    state.winner = std::move(warmed->winner);
    state.warmed = true;
    OPGAUGE_TRY(take_over(state));
    return Json{{"type", "use"}, {"config", state.winner->config}};
}

// At once, so that a run that is ended keeps what it used, as it keeps what it tuned.
Result<void> TuningDesk::take_over(KeyState& state) {
    if (!store_) return {};
    std::vector<Timing> timings;
    std::copy_if(warmed_->timings.begin(), warmed_->timings.end(), std::back_inserter(timings),
                 [&](const Timing& timing) { return belongs_to(timing, *state.winner); });
    return store_->record(*state.winner, timings);
}

Json TuningDesk::warmed_json() const {
    if (!warmed_) return nullptr;
    int used = 0;
    int confirmed = 0;
    int not_warmed = 0;
    for (const auto& [identity, state] : keys_) {
        used += static_cast<int>(state.warmed);
        confirmed += static_cast<int>(state.confirming && state.sweeps > 0);
        not_warmed += static_cast<int>(state.not_warmed);
    }
    return {{"used", used}, {"confirmed", confirmed}, {"not_warmed", not_warmed}};
}

}  // namespace opgauge
