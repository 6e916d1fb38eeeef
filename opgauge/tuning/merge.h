// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/tuning/tuning_store.h"

#include <span>
#include <string>
#include <vector>

namespace opgauge {

struct MergeSource {
    std::filesystem::path path;
    std::string label;  // how the report calls it; empty: its path
};

struct MergeSide {
    std::string store;
    Json config;
    Times times;
    Conditions conditions = Conditions::unknown;
};

// One key whose winner differs between stores.
struct Disagreement {
    std::string kernel;
    std::string space;
    std::string key;
    Scope scope;  // two kernels of one name differ in their source's hash only
    std::vector<MergeSide> sides;
    Json chosen;
};

struct MergeReport {
    std::size_t stores = 0;
    std::int64_t winners_read = 0;
    std::int64_t timings_read = 0;
    std::int64_t keys_in_several_stores = 0;
    StoreSize after;
    std::vector<Disagreement> disagreements;
    // What a reader of the merged store must know: sets of fields that differ, hashed keys that
    // collide, winners without a usable time.
    std::vector<std::string> problems;
};

// Puts all sources into `target` in one transaction: others see the old store or the merged one,
// and several mergers queue for `wait`. The result does not depend on the order of the sources:
// a usable time beats none, a quiet serial one beats a noisy one, then the shorter one wins, then
// the text that sorts first.
Result<MergeReport> merge_stores(const std::filesystem::path& target,
                                 std::span<const MergeSource> sources,
                                 std::chrono::milliseconds wait = kDatabaseWait);

}  // namespace opgauge
