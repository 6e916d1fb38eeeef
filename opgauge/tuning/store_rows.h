// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/tuning/tuning_store.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <functional>
#include <map>

namespace opgauge {

struct Space {
    SpaceKind kind = SpaceKind::winners;
    std::string kernel;
    std::string name;
    // Columns of an imported table, as JSON [[name, declared type, place in the primary key], ...];
    // "[]" where the rows decide.
    std::string columns = "[]";
};

// A row as it lies in the store: texts stay texts, so that a merge need not parse each.
struct StoredRow {
    std::int64_t space_id = 0;
    std::int64_t scope_id = 0;
    std::string lookup;
    std::string config_id;
    std::string key;
    std::string raw_key = "[]";
    std::string config;
    Times times;
    Conditions conditions = Conditions::unknown;
};

// Reads and writes rows with statements prepared once. Lives inside one with_sqlite(); throws
// sqlite's exceptions. The caller owns the transaction.
class StoreRows {
  public:
    explicit StoreRows(SQLite::Database& database);
    // The id of this space or scope; made if it is new.
    std::int64_t id_of(const Space& space);
    std::int64_t id_of_scope(const std::string& facts);
    // Keeps whichever row is better.
    void put(SpaceKind kind, const StoredRow& row);
    void put(SpaceKind kind, const TunedConfig& tuned);

  private:
    SQLite::Database& database_;
    SQLite::Statement put_winner_;
    SQLite::Statement put_timing_;
    std::map<std::string, std::int64_t> scopes_;
    std::map<std::string, std::int64_t> spaces_;
};

// A time of a row's column; NaN, unknown, where it is NULL.
double time_at(SQLite::Statement& row, int index);

std::map<std::int64_t, Space> spaces_of(SQLite::Database& database);
std::map<std::int64_t, std::string> scopes_of(SQLite::Database& database);
void for_each_row(SQLite::Database& database, SpaceKind kind, std::string_view kernel,
                  const std::function<void(const StoredRow&)>& take);
// A value again; the row may come from a foreign store, so its texts may be anything.
Result<TunedConfig> tuned_from(const StoredRow& row, const Space& space, const std::string& scope);
Result<std::vector<TunedConfig>> read_tuned(SQLite::Database& database, SpaceKind kind,
                                            std::string_view kernel);

}  // namespace opgauge
