// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/flaggems_table.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/text.h"
#include "opgauge/tuning/flaggems_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 3> kTimes = {"p50", "p20", "p80"};

tl::unexpected<Error> refuse(SQLite::Database& database, std::string_view what,
                             std::string_view name, std::string_view why) {
    return fail(ErrorKind::usage,
                fmt::format("cannot import {}: its {} '{}' {}; nothing was imported",
                            database.getFilename(), what, printable(name, 200), why));
}

Result<std::vector<FlagGemsColumn>> read_columns(SQLite::Database& database,
                                                 const std::string& table) {
    SQLite::Statement rows(database, "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)");
    rows.bind(1, table);
    std::vector<FlagGemsColumn> columns;
    while (rows.executeStep()) {
        columns.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                           rows.getColumn(2).getInt()});
        if (rows.getColumn(3).getInt() != 0) {
            return refuse(database, "table", table, "has computed columns");
        }
    }
    return columns;
}

bool ends_with_times(const std::vector<FlagGemsColumn>& columns) {
    if (columns.size() < kTimes.size()) return false;
    return std::equal(kTimes.begin(), kTimes.end(), columns.end() - kTimes.size(),
                      [](auto name, const auto& column) {
                          return column.name == name && column.place_in_key == 0;
                      });
}

// How many columns at the front are the key; 0 where this is no table of FlagGems'.
std::size_t count_key_columns(const FlagGemsTable& table) {
    const auto& columns = table.columns;
    if (table.hashed) return 2;
    std::size_t count = 0;
    while (count < columns.size() && columns[count].name == fmt::format("key_{}", count)) ++count;
    return count;
}

Result<FlagGemsTable> read_table(SQLite::Database& database, const std::string& name) {
    FlagGemsTable table;
    table.name = name;
    OPGAUGE_TRY_ASSIGN(table.columns, read_columns(database, name));
    const auto& columns = table.columns;
    table.kind = ends_with_times(columns) ? SpaceKind::timings : SpaceKind::winners;
    table.hashed =
        columns.size() >= 2 && columns[0].name == "key_hash" && columns[1].name == "key_blob";
    table.key_columns = count_key_columns(table);
    const std::size_t times = table.kind == SpaceKind::timings ? kTimes.size() : 0;
    if (table.key_columns == 0 || columns.size() <= table.key_columns + times) {
        return refuse(database, "table", name, "has not the columns of a tuning table");
    }
    table.config_columns = columns.size() - table.key_columns - times;
    if (flaggems_table_name(split_table_name(name).space, table) != name) {
        return refuse(database, "table", name,
                      "does not end with the digest of its columns, so FlagGems never reads it");
    }
    return table;
}

}  // namespace

std::string flaggems_table_name(std::string_view space, const FlagGemsTable& table) {
    const std::size_t named = table.kind == SpaceKind::winners
                                  ? table.key_columns
                                  : table.key_columns + table.config_columns;
    std::string names;
    for (std::size_t i = 0; i < named; ++i) names += table.columns[i].name;
    return fmt::format("{}-{}", space, md5_hex(names));
}

Json columns_json(const std::vector<FlagGemsColumn>& columns) {
    Json all = Json::array();
    for (const auto& column : columns) {
        all.push_back(Json::array({column.name, column.type, column.place_in_key}));
    }
    return all;
}

Result<std::vector<FlagGemsTable>> read_flaggems_tables(SQLite::Database& database) {
    std::vector<FlagGemsTable> tables;
    SQLite::Statement rows(database,
                           "SELECT type, name, coalesce(sql, '') FROM sqlite_master "
                           "ORDER BY type <> 'table', name");
    while (rows.executeStep()) {
        const std::string type = rows.getColumn(0).getString();
        const std::string name = rows.getColumn(1).getString();
        const std::string sql = rows.getColumn(2).getString();
        if (name.starts_with("sqlite_")) continue;  // sqlite's own: indexes of keys, statistics
        if (nests_too_deep(name) || to_line(name).find("\\ufffd") != std::string::npos) {
            return refuse(database, type, name, "has a name that is no text");
        }
        if (type != "table") return refuse(database, type, name, "is none of FlagGems'");
        if (starts_with_ignoring_case(sql, "create virtual")) {
            return refuse(database, "virtual table", name, "is none of FlagGems'");
        }
        OPGAUGE_TRY_ASSIGN(auto table, read_table(database, name));
        tables.push_back(std::move(table));
    }
    if (tables.empty()) {
        return fail(ErrorKind::usage, fmt::format("cannot import {}: it holds no tuning table",
                                                  database.getFilename()));
    }
    return tables;
}

}  // namespace opgauge
