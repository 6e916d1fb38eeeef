// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/sqlite.h"
#include "opgauge/tuning/tuning_key.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace opgauge {

constexpr int kTuningSchemaVersion = 1;

enum class SpaceKind { winners, timings };

// Why a recorded winner could not be used.
enum class EvictionKind { error, out_of_resources, timeout };
std::string_view name_of(EvictionKind kind);

struct Eviction {
    std::string kernel;
    std::string lookup;
    std::string config_id;
    std::string kind;
};

// The file of a store that is named by itself or by its run's folder.
std::filesystem::path store_file(const std::filesystem::path& path);

struct StoreSize {
    std::int64_t winners = 0;
    std::int64_t timings = 0;
};

// tuning.db (docs/tuning_store.md). One process writes it; each writing call is one transaction, so
// a kill at any moment leaves it wholly before or wholly after that call.
class TuningStore {
  public:
    // A missing store is made with its whole schema under another name and then renamed, so none
    // is ever seen half made. A run folder stands for the tuning.db in it.
    static Result<TuningStore> open(const std::filesystem::path& path, DatabaseAccess access,
                                    std::chrono::milliseconds wait = kDatabaseWait);

    // A winner and every configuration timed for its key. One that is already there stays if it is
    // better: a quiet serial timing beats a noisy one, then the shorter time wins. A winner whose
    // time is infinite or NaN is refused: no configuration works.
    Result<void> record(const Winner& winner, std::span<const Timing> timings);
    Result<void> put_timings(std::span<const Timing> timings);
    // Winners of another store; one without a usable time is kept as it was there.
    Result<void> put_winners(std::span<const Winner> winners);

    // The winner at exactly this kernel, key and scope.
    Result<std::optional<Winner>> find_winner(const TuningKey& key, const Scope& scope);
    // All, or those of one kernel, in a fixed order.
    Result<std::vector<Winner>> winners(std::string_view kernel = {});
    Result<std::vector<Timing>> timings(std::string_view kernel = {});
    Result<StoreSize> size();

    // Takes the winner and the timing of its configuration out for good and remembers why. False
    // where there is no such winner.
    Result<bool> drop_winner(const TuningKey& key, const Scope& scope, EvictionKind kind);
    Result<std::vector<Eviction>> evictions();

    const std::filesystem::path& path() const { return path_; }
    // For the other files of this folder.
    SQLite::Database& database() { return *database_; }

  private:
    TuningStore(std::unique_ptr<SQLite::Database> database, std::filesystem::path path);
    Result<void> put_all(SpaceKind kind, std::span<const TunedConfig> all);
    std::unique_ptr<SQLite::Database> database_;
    std::filesystem::path path_;
};

}  // namespace opgauge
