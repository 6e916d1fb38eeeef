// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/tuning/tuning_store.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// What a child says of tuning (docs/child_protocol.md), read once and checked; an error is one of
// the protocol.

// A key that the child asks about, with what holds now.
struct KeyQuestion {
    long long id = 0;
    TuningKey key;
    Scope scope;
};
// `known`: the facts of the scope that the parent knows itself.
Result<KeyQuestion> read_winner(const Json& message, const Scope& known);

// The id alone, of a later message about that key.
Result<long long> read_key_id(const Json& message);

// What was compiled ahead of the timing of a sweep, or of several.
struct CompileCount {
    long long ahead = 0;   // configurations compiled by the pool
    long long hits = 0;    // of those timed: found in the compiler's cache
    long long misses = 0;  // compiled again when they were timed
    double seconds = 0;    // from the first fork to the last result
    double cpu_seconds = 0;
    double waited_s = 0;  // the timing waited for a compile
    void add(const CompileCount& other);
};

// How the configurations of a sweep, or of several of one key, were timed against each other.
struct TimingCount {
    std::string how;  // "race" or "full" of the last sweep; empty: nothing was timed
    long long configs = 0;
    std::array<long long, 2> dropped = {0, 0};  // by round
    std::optional<long long> calls;             // absent: the tuner's own affair
    std::optional<double> device_s;             // of these calls
    double seconds = 0;
    void add(const TimingCount& other);
};
// For status.json: {"how", "configs", "dropped", "calls", "device_s", "seconds"}.
Json to_json(const TimingCount& count);

// A sweep as far as it has been told.
struct Sweep {
    bool more = false;  // others follow
    std::vector<Timing> timings;
    std::optional<Winner> winner;  // absent: no configuration works
    double seconds = 0;
    long long timed = 0;
    std::size_t failed = 0;
    CompileCount compile;
    TimingCount timing;
};
// `before`: the timings of the parts before this one.
Result<Sweep> read_tuned(const Json& message, const KeyQuestion& asked, Conditions conditions,
                         std::vector<Timing> before);

struct FailedWinner {
    Json config = Json::object();
    EvictionKind kind = EvictionKind::error;
    std::string message;
    bool can_drop = false;
};
Result<FailedWinner> read_winner_failed(const Json& message);

}  // namespace opgauge
