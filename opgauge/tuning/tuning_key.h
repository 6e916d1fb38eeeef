// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// What a corpus tunes for: one kernel at one key.
struct TuningKey {
    std::string kernel;
    // The corpus tuner's own name for this set of keys; empty where it has none. Needed for export.
    std::string space;
    // The key as the tuner looks it up (normalised, dtypes included): an array, or where the tuner
    // kept only a digest {"key_hash", "key_blob"}.
    Json key = Json::array();
    // The same before normalising; empty where unknown.
    Json raw_key = Json::array();
};

// Within which a winner may be believed. Empty: unknown.
struct Scope {
    std::string device_model;
    std::string driver;
    std::string compiler;
    std::string kernel_source_hash;  // ours: without comments and line numbers
    std::string triton_source_hash;  // the compiler's own, kept for export
    std::string config_list_digest;
    std::string tuning_timer;
    std::map<std::string, std::string> environment;  // only what can change a tuning
    bool operator==(const Scope&) const = default;
};

Json to_json(const Scope& scope);
Scope scope_from_json(const Json& facts);
// Sets one fact by its name ("environment.NAME" for a variable); an unknown name is a usage error.
Result<void> set_fact(Scope& scope, std::string_view name, std::string_view value);

struct ScopeDifference {
    std::string fact;
    std::string recorded;
    std::string now;
};
// Leaves out triton_source_hash: it changes when a comment is added above a kernel.
std::vector<ScopeDifference> scope_differences(const Scope& recorded, const Scope& now);

// Under which conditions a timing was taken; a later one beats an earlier one.
enum class Conditions { noisy = 0, unknown = 1, quiet_serial = 2 };
std::string_view name_of(Conditions conditions);

// In ms. NaN: unknown. Infinite: the configuration does not work.
struct Times {
    double p50 = std::numeric_limits<double>::quiet_NaN();
    double p20 = std::numeric_limits<double>::quiet_NaN();
    double p80 = std::numeric_limits<double>::quiet_NaN();
    // Only such a timing can win against another one.
    bool usable() const { return p50 > 0 && p50 < std::numeric_limits<double>::infinity(); }
};

// One configuration at one key with its times.
struct TunedConfig {
    TuningKey key;
    Scope scope;
    Json config = Json::object();
    Times times;
    Conditions conditions = Conditions::unknown;
};
using Winner = TunedConfig;
using Timing = TunedConfig;

// One text for keys that Python and sqlite call equal: true, 1 and 1.0 are the same.
std::string lookup_text(const Json& key);
// One text for configurations that differ only in the order of their fields.
std::string config_id(const Json& config);
// "BLOCK_M=64 num_warps=4", for people.
std::string config_text(const Json& config);
// NaN is null, infinity "inf": JSON has neither.
Json time_json(double value);

// One digest of which configuration wins where. Independent of order, of timings and of the scope.
std::string winners_digest(std::span<const Winner> winners);

}  // namespace opgauge
