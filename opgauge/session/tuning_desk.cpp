// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_desk.h"

#include "opgauge/base/text.h"
#include "opgauge/session/tuning_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace opgauge {
namespace {

tl::unexpected<Error> wrong(std::string what) {
    return fail(ErrorKind::failed, std::move(what));
}

// Two kernels of one name are kept apart by their source.
std::string identity_of(const KeyQuestion& asked) {
    return to_line(Json::array({asked.key.kernel, asked.key.space, lookup_text(asked.key.key),
                                asked.scope.kernel_source_hash, asked.scope.config_list_digest,
                                asked.scope.tuning_timer}));
}

bool same_config(const Json& a, const Json& b) {
    return config_id(a) == config_id(b);
}

}  // namespace

std::string_view name_of(TuningMode mode) {
    constexpr std::array<std::string_view, 3> kNames = {"off", "record", "replay"};
    return kNames.at(static_cast<std::size_t>(mode));
}

TuningDesk::TuningDesk(TuningSettings settings, std::optional<TuningStore> store,
                       std::optional<Replay> source)
    : settings_(std::move(settings)), store_(std::move(store)), source_(std::move(source)) {
    if (!settings_.warning.empty()) notes_.push_back(settings_.source + ": " + settings_.warning);
    if (!settings_.timing_warning.empty()) notes_.push_back(settings_.timing_warning);
}

std::optional<std::string> TuningDesk::check_compiler(const Json& device) {
    if (!source_ || settings_.allow_misses || settings_.accepted.contains("compiler")) {
        return std::nullopt;
    }
    Scope now = settings_.known;
    now.compiler = compiler_of(device);
    const auto differences = differences_of_all(*source_, now, settings_.accepted);
    if (differences.empty()) return std::nullopt;
    refusal_ = "replay_miss: " + differences_text(differences) + "; " + summary();
    return refusal_;
}

TuningDesk::KeyState& TuningDesk::state_of(const KeyQuestion& asked) {
    KeyState& state = keys_[identity_of(asked)];
    if (state.asked.id == 0) state.asked = asked;
    state.asked.id = asked.id;
    by_id_[asked.id] = &state;
    return state;
}

Result<TuningDesk::KeyState*> TuningDesk::known(const Json& message) {
    OPGAUGE_TRY_ASSIGN(const long long id, read_key_id(message));
    const auto found = by_id_.find(id);
    if (found != by_id_.end()) return found->second;
    return wrong(fmt::format("'{}' of key {}, which was not asked about",
                             printable(get_string(message, "type")), id));
}

Json TuningDesk::tune_answer(KeyState& state) const {
    state.sweep.clear();
    return {{"type", "tune"}, {"exclude", state.excluded}};
}

void TuningDesk::flag(KeyState& state, std::string flag) {
    flags_since_case_.insert(flag);
    state.flags.insert(std::move(flag));
}

Result<Json> TuningDesk::answer_winner(const Json& message) {
    if (settings_.mode == TuningMode::off) return wrong("'winner', though tuning is off");
    OPGAUGE_TRY_ASSIGN(const KeyQuestion asked, read_winner(message, settings_.known));
    KeyState& state = state_of(asked);
    // One of this run, or none that works: a child that takes another's place asks again.
    if (state.winner) return Json{{"type", "use"}, {"config", state.winner->config}};
    const bool first = state.sweeps == 0 && !state.missed && state.excluded.empty();
    if (source_ && first) return answer_first(state);
    const Winner* earlier = first ? earlier_winner(state) : nullptr;
    if (earlier != nullptr) {
        state.winner = *earlier;
        return Json{{"type", "use"}, {"config", state.winner->config}};
    }
    if (warmed_ && first && !state.not_warmed) return answer_warmed(state);
    return tune_answer(state);
}

Json TuningDesk::answer_first(KeyState& state) {
    auto found = source_->find(state.asked.key, state.asked.scope);
    if (auto* replayed = std::get_if<Replayed>(&found)) {
        state.winner = std::move(replayed->winner);
        state.replayed = true;
        for (const auto& one : replayed->accepted) {
            flag(state, "replay_scope_accepted:" + one.fact);
        }
        return {{"type", "use"}, {"config", state.winner->config}};
    }
    state.missed = true;
    const Miss& miss = std::get<Miss>(found);
    add_misses(state, miss);
    flag(state, "replay_miss");
    if (settings_.allow_misses) return tune_answer(state);
    refusal_ = fmt::format(
        "replay_miss: {}; {}; record again, or tune what is missing live with "
        "--allow-misses",
        miss_text(state.asked.key, miss), summary());
    return {{"type", "stop"}, {"reason", *refusal_}};
}

// A changed source or list of configurations makes all keys of a kernel miss: a run that stops at
// the first one names them all.
void TuningDesk::add_misses(const KeyState& state, const Miss& miss) {
    misses_.push_back({state.asked.key, miss});
    const bool whole_kernel = miss.reason == MissReason::kernel_source_changed ||
                              miss.reason == MissReason::config_list_changed;
    if (settings_.allow_misses || !whole_kernel) return;
    // Another kernel of the same name may be served well.
    std::set<std::string> served;
    for (const auto& [identity, other] : keys_) {
        if (other.replayed) served.insert(other.asked.scope.kernel_source_hash);
    }
    const std::string asked = lookup_text(state.asked.key.key);
    for (const auto& winner : source_->by_kernel().at(state.asked.key.kernel)) {
        if (lookup_text(winner.key.key) == asked) continue;
        if (served.contains(winner.scope.kernel_source_hash)) continue;
        misses_.push_back({winner.key, miss});
    }
}

Result<Json> TuningDesk::answer_failed(const Json& message) {
    OPGAUGE_TRY_ASSIGN(KeyState* const state, known(message));
    OPGAUGE_TRY_ASSIGN(const FailedWinner failed, read_winner_failed(message));
    if (!state->winner || !same_config(state->winner->config, failed.config)) {
        return wrong("'winner_failed' of a configuration that is not in use");
    }
    const std::string kind(name_of(failed.kind));
    const std::string what =
        fmt::format("{} at {}: {} ({})", printable(state->asked.key.kernel),
                    printable(lookup_text(state->asked.key.key)), kind, failed.message);
    if (!failed.can_drop) {
        flag(*state, "compile_" + kind + "_no_evict");
        notes_.push_back("the winner failed and could not be dropped: " + what);
        return Json{{"type", "go"}};
    }
    flag(*state, "compile_" + kind + "_evicted");
    notes_.push_back("the winner was evicted: " + what);
    state->excluded.push_back(state->winner->config);
    const Winner gone = *std::exchange(state->winner, std::nullopt);
    const bool replayed = std::exchange(state->replayed, false);
    state->warmed = false;
    if (store_) {
        // Only what was in the store can be remembered there as dropped.
        if (replayed) OPGAUGE_TRY(store_->put_winners(std::span(&gone, 1)));
        OPGAUGE_TRY(store_->drop_winner(gone.key, gone.scope, failed.kind));
    }
    return tune_answer(*state);
}

Result<std::string> TuningDesk::take_tuned(const Json& message, Conditions conditions) {
    OPGAUGE_TRY_ASSIGN(KeyState* const state, known(message));
    OPGAUGE_TRY_ASSIGN(Sweep sweep, read_tuned(message, state->asked, conditions,
                                               std::exchange(state->sweep, {})));
    if (sweep.more) {
        state->sweep = std::move(sweep.timings);
        return std::string();
    }
    const auto evicted = [&](const Json& config) {
        return std::any_of(state->excluded.begin(), state->excluded.end(),
                           [&](const Json& gone) { return same_config(gone, config); });
    };
    if (sweep.winner && evicted(sweep.winner->config)) {
        return wrong(fmt::format("an evicted configuration of {} won again",
                                 printable(state->asked.key.kernel)));
    }
    if (std::exchange(state->replayed, false)) {
        flag(*state, "replay_miss");
        notes_.push_back(fmt::format(
            "{} at {}: tuned live by a tuner that takes no recorded winner",
            printable(state->asked.key.kernel), printable(lookup_text(state->asked.key.key))));
    }
    if (std::exchange(state->warmed, false)) flag(*state, "not_warmed");
    ++state->sweeps;
    state->seconds += sweep.seconds;
    state->compile.add(sweep.compile);
    state->timing.add(sweep.timing);
    seconds_since_case_ += sweep.seconds;
    OPGAUGE_TRY(keep(*state, sweep));
    return state->asked.key.kernel;
}

Result<void> TuningDesk::keep(KeyState& state, const Sweep& sweep) {
    state.winner = sweep.winner;
    const bool usable = sweep.winner && sweep.winner->times.usable();
    if (!usable) {
        notes_.push_back(
            fmt::format("{} at {}: {}, so no winner is kept", printable(state.asked.key.kernel),
                        printable(lookup_text(state.asked.key.key)),
                        sweep.winner ? "the winner has no usable time" : "no configuration works"));
    }
    if (!store_) return {};
    return usable ? store_->record(*sweep.winner, sweep.timings)
                  : store_->put_timings(sweep.timings);
}

Result<CaseTuning> TuningDesk::end_case(std::span<const long long> ids) {
    CaseTuning result;
    std::vector<Winner> winners;
    std::set<std::string> flags = std::exchange(flags_since_case_, {});
    result.seconds = std::exchange(seconds_since_case_, 0);
    for (const long long id : ids) {
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) {
            return wrong(fmt::format("'case_end' names key {}, which was not asked about", id));
        }
        flags.insert(found->second->flags.begin(), found->second->flags.end());
        if (found->second->winner) winners.push_back(*found->second->winner);
    }
    if (!winners.empty()) result.winners_digest = opgauge::winners_digest(winners);
    result.flags.assign(flags.begin(), flags.end());
    return result;
}

void TuningDesk::take_counts(const Json& event) {
    for (const char* name : {"launches", "asked", "used", "tuned"}) {
        counts_[name] += get_optional<long long>(event, name).value_or(0);
    }
}

Result<void> TuningDesk::finish() {
    if (!store_) return {};
    std::vector<Winner> replayed;
    for (const auto& [identity, state] : keys_) {
        if (state.replayed) replayed.push_back(*state.winner);
    }
    return replayed.empty() ? Result<void>() : store_->put_winners(replayed);
}

}  // namespace opgauge
