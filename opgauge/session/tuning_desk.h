// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/session/tuning_messages.h"
#include "opgauge/tuning/replay.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace opgauge {

enum class TuningMode { off, record, replay };
std::string_view name_of(TuningMode mode);

struct TuningSettings {
    TuningMode mode = TuningMode::off;
    bool allow_misses = false;
    std::set<std::string> accepted;  // facts of the scope that may differ
    std::string source;              // of a replay, as the caller named it
    std::string warning;             // of that source; empty: none
    std::string timing_warning;      // configurations are not raced though it was asked for
    Scope known;                     // device, driver and environment of this run
};

// What one case used.
struct CaseTuning {
    std::string winners_digest;      // empty: no tuned kernel ran
    std::vector<std::string> flags;  // docs/exit_codes.md
    double seconds = 0;              // of live tuning since the case before
};

// One key that the source of a replay could not serve.
struct ReplayMiss {
    TuningKey key;
    Miss miss;
};

// What was tuned on several devices before the run.
struct WarmedKeys {
    // Which keys are tuned again, serially, on the measuring device.
    enum class Confirm { none, disputed, all };

    Replay winners;
    std::vector<Timing> timings;
    Confirm confirm = Confirm::none;
    std::map<std::string, Json> disputed;  // place_of(): the configurations that won somewhere
};
// One text for a key of a kernel. Two kernels of one name differ in their scope only.
std::string place_of(std::string_view kernel, std::string_view space, std::string_view lookup,
                     const Scope& scope);

// Decides which configuration a child uses at a key: of this run, of the source of a replay, or
// one that it tunes live. Outlives the children of a run, so that one that takes another's place
// does not tune again and an evicted winner does not come back. Knows nothing of processes; the
// session owns it and the conversation asks it. An error of kind `failed` is one of the protocol.
class TuningDesk {
  public:
    TuningDesk() = default;  // tuning is off
    // `store` is the run's own; without one nothing is kept. `source` is there in a replay.
    TuningDesk(TuningSettings settings, std::optional<TuningStore> store,
               std::optional<Replay> source);

    // Before the first child: from now on, what was warmed need not be tuned.
    void use_warmed(WarmedKeys warmed) { warmed_ = std::move(warmed); }

    // Before the first child of a run that is resumed: what it has tuned is in its store.
    Result<void> take_up();

    TuningMode mode() const { return settings_.mode; }
    // Ids are each child's own.
    void begin_child() { by_id_.clear(); }
    // `device` is the child's report. Why no winner of the source holds with its compiler: also
    // refusal() from then on.
    std::optional<std::string> check_compiler(const Json& device);

    // The answer to `winner`: use, tune or stop.
    Result<Json> answer_winner(const Json& message);
    // The answer to `winner_failed`: tune or go.
    Result<Json> answer_failed(const Json& message);
    // The kernel whose sweep has ended; empty: more parts follow.
    Result<std::string> take_tuned(const Json& message, Conditions conditions);
    // `ids` of the keys that the case used; what happened since the last case belongs to this one.
    Result<CaseTuning> end_case(std::span<const long long> ids);
    // The child's own count of what its hooks saw.
    void take_counts(const Json& event);

    // Not empty: a replay cannot go on, since a winner is missing.
    const std::optional<std::string>& refusal() const { return refusal_; }
    // Keeps what was replayed in the run's own store; once, at the end.
    Result<void> finish();

    // Of all winners that the run used; empty: none.
    std::string winners_digest() const;
    // For status.json, members "tuning" and "replay".
    Json tuning_json() const;
    Json replay_json() const;
    // What became of the warmed keys: {"used", "confirmed", "not_warmed"}; null: no warm-up.
    Json warmed_json() const;
    // For the terminal: misses, evictions, how many recorded winners were used.
    std::vector<std::string> lines() const;

  private:
    struct KeyState {
        KeyQuestion asked;
        std::optional<Winner> winner;   // what a child uses now
        std::vector<Timing> sweep;      // parts of a sweep that goes on
        Json excluded = Json::array();  // evicted configurations
        std::set<std::string> flags;
        bool replayed = false;  // the winner is the source's
        bool missed = false;
        bool warmed = false;      // the winner is that of the warm-up
        bool confirming = false;  // it is tuned again
        bool not_warmed = false;
        int sweeps = 0;
        double seconds = 0;
        CompileCount compile;
        TimingCount timing;
    };

    KeyState& state_of(const KeyQuestion& asked);
    Result<KeyState*> known(const Json& message);
    Json answer_first(KeyState& state);
    Result<Json> answer_warmed(KeyState& state);
    const Winner* earlier_winner(const KeyState& state) const;
    Result<void> take_over(KeyState& state);
    Json tune_answer(KeyState& state) const;
    void add_misses(const KeyState& state, const Miss& miss);
    void flag(KeyState& state, std::string flag);
    Result<void> keep(KeyState& state, const Sweep& sweep);
    std::size_t used() const;
    std::string summary() const;
    std::map<std::string, Json> kernels() const;
    Json timings() const;

    TuningSettings settings_;
    std::optional<TuningStore> store_;
    std::optional<Replay> source_;
    std::optional<WarmedKeys> warmed_;
    std::vector<Winner> earlier_;  // of the run that is resumed
    std::map<std::string, KeyState> keys_;
    std::map<long long, KeyState*> by_id_;
    std::set<std::string> flags_since_case_;
    double seconds_since_case_ = 0;
    std::vector<ReplayMiss> misses_;
    std::vector<std::string> notes_;
    std::optional<std::string> refusal_;
    std::map<std::string, long long> counts_;
};

}  // namespace opgauge
