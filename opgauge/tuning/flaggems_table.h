// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/sqlite.h"
#include "opgauge/tuning/store_rows.h"

#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

struct FlagGemsColumn {
    std::string name;
    std::string type;
    int place_in_key = 0;  // from 1; 0: no part of the primary key
    bool operator==(const FlagGemsColumn&) const = default;
};

// A table in FlagGems' database, its columns sorted into what they mean.
struct FlagGemsTable {
    std::string name;
    SpaceKind kind = SpaceKind::winners;
    bool hashed = false;  // key_hash and key_blob in place of key_0, key_1, ...
    std::vector<FlagGemsColumn> columns;
    std::size_t key_columns = 0;     // they come first, then the configuration
    std::size_t config_columns = 0;  // then p50, p20, p80 where it holds timings
};

// All tables, or the first thing in the file that is none, by name.
Result<std::vector<FlagGemsTable>> read_flaggems_tables(SQLite::Database& database);

// The name that FlagGems gives a table: the space and the digest of its columns' names.
std::string flaggems_table_name(std::string_view space, const FlagGemsTable& table);

Json columns_json(const std::vector<FlagGemsColumn>& columns);

}  // namespace opgauge
