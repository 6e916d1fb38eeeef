// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/commit_file.h"
#include "opgauge/base/text.h"
#include "opgauge/tuning/flaggems_database.h"
#include "opgauge/tuning/flaggems_key.h"
#include "opgauge/tuning/flaggems_table.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <system_error>

namespace opgauge {
namespace {

struct ImportedTable {
    Space space;
    std::vector<TunedConfig> rows;
};

tl::unexpected<Error> refuse_value(const FlagGemsTable& table, std::size_t row,
                                   const std::string& column, std::string_view why) {
    return fail(ErrorKind::usage,
                fmt::format("cannot import table '{}': row {}, column '{}' {}; nothing was "
                            "imported",
                            printable(table.name, 200), row, printable(column, 100), why));
}

// True where the bytes are UTF-8 and print as themselves.
bool is_text(const std::string& bytes) {
    try {
        (void)Json(bytes).dump();
        return true;
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

Result<Json> value_of(const FlagGemsTable& table, std::size_t row, const SQLite::Column& column,
                      const std::string& name) {
    if (column.isInteger()) return Json(column.getInt64());
    if (column.isText()) {
        std::string text = column.getString();
        if (!is_text(text)) return refuse_value(table, row, name, "is not UTF-8");
        return Json(std::move(text));
    }
    if (!column.isFloat()) return refuse_value(table, row, name, "is neither number nor text");
    const double value = column.getDouble();
    if (!std::isfinite(value)) return refuse_value(table, row, name, "is infinite");
    return Json(value);
}

Result<double> time_of(const FlagGemsTable& table, std::size_t row, const SQLite::Column& column,
                       const std::string& name) {
    if (column.isNull()) return std::nan("");
    if (column.isFloat() || column.isInteger()) return column.getDouble();
    return refuse_value(table, row, name, "is no time");
}

Result<void> check_hash(const FlagGemsTable& table, std::size_t row, const Json& key) {
    const Json right = hashed_form(Json::array({key["key_blob"]}));
    if (key["key_hash"] == right["key_hash"]) return {};
    return refuse_value(table, row, "key_hash", "is not the hash of its key_blob");
}

Result<TunedConfig> read_row(const FlagGemsTable& table, std::size_t number,
                             SQLite::Statement& row) {
    TunedConfig tuned;
    if (table.hashed) tuned.key.key = Json::object();
    const std::size_t config_end = table.key_columns + table.config_columns;
    for (std::size_t i = 0; i < config_end; ++i) {
        const auto& name = table.columns[i].name;
        OPGAUGE_TRY_ASSIGN(Json value,
                           value_of(table, number, row.getColumn(static_cast<int>(i)), name));
        if (i >= table.key_columns) {
            tuned.config[name] = std::move(value);
        } else if (table.hashed) {
            tuned.key.key[name] = std::move(value);
        } else {
            tuned.key.key.push_back(std::move(value));
        }
    }
    if (table.hashed) OPGAUGE_TRY(check_hash(table, number, tuned.key.key));
    if (table.kind == SpaceKind::winners) return tuned;
    const auto at = static_cast<int>(config_end);
    OPGAUGE_TRY_ASSIGN(tuned.times.p50, time_of(table, number, row.getColumn(at), "p50"));
    OPGAUGE_TRY_ASSIGN(tuned.times.p20, time_of(table, number, row.getColumn(at + 1), "p20"));
    OPGAUGE_TRY_ASSIGN(tuned.times.p80, time_of(table, number, row.getColumn(at + 2), "p80"));
    return tuned;
}

Result<ImportedTable> read_rows(SQLite::Database& database, const FlagGemsTable& table,
                                const ImportOptions& options) {
    const auto name = split_table_name(table.name);
    ImportedTable imported;
    imported.space = {table.kind, name.kernel, name.space, to_line(columns_json(table.columns))};
    std::vector<std::string> columns;
    for (const auto& column : table.columns) columns.push_back(quoted_identifier(column.name));
    SQLite::Statement rows(database, fmt::format("SELECT {} FROM main.{}", join(columns, ", "),
                                                 quoted_identifier(table.name)));
    std::set<std::string> seen;
    while (rows.executeStep()) {
        const std::size_t number = imported.rows.size() + 1;
        OPGAUGE_TRY_ASSIGN(TunedConfig tuned, read_row(table, number, rows));
        std::string identity = lookup_text(tuned.key.key);
        if (table.kind == SpaceKind::timings) identity += config_id(tuned.config);
        if (!seen.insert(std::move(identity)).second) {
            return refuse_value(table, number, table.columns[0].name,
                                "begins a key that another row has too");
        }
        tuned.key.kernel = name.kernel;
        tuned.key.space = name.space;
        tuned.scope = options.scope;
        if (!name.source_hash.empty()) tuned.scope.triton_source_hash = name.source_hash;
        tuned.conditions = options.conditions;
        imported.rows.push_back(std::move(tuned));
    }
    return imported;
}

// A table of winners has no times; those of the same configuration at the same key are taken. The
// key of a timing begins with the winner's, then says how it was timed.
void give_winners_their_times(std::vector<ImportedTable>& tables) {
    std::map<std::string, const TunedConfig*> timed;
    for (const auto& table : tables) {
        if (table.space.kind != SpaceKind::timings) continue;
        for (const auto& row : table.rows) {
            Json start = Json::array();
            if (!row.key.key.is_array()) continue;
            for (const auto& part : row.key.key) {
                start.push_back(part);
                timed[row.key.kernel + lookup_text(start) + config_id(row.config)] = &row;
            }
        }
    }
    for (auto& table : tables) {
        if (table.space.kind != SpaceKind::winners) continue;
        for (auto& row : table.rows) {
            const auto found =
                timed.find(row.key.kernel + lookup_text(row.key.key) + config_id(row.config));
            if (found != timed.end()) row.times = found->second->times;
        }
    }
}

Result<std::vector<ImportedTable>> read_file_tables(const std::filesystem::path& file,
                                                    const ImportOptions& options) {
    OPGAUGE_TRY_ASSIGN(auto database, open_database(file, DatabaseAccess::read, kDatabaseWait));
    OPGAUGE_TRY(check_pages(*database));
    return with_sqlite("import", *database, [&]() -> Result<std::vector<ImportedTable>> {
        SQLite::Transaction one_view(*database);
        OPGAUGE_TRY_ASSIGN(const auto tables, read_flaggems_tables(*database));
        std::vector<ImportedTable> imported;
        for (const auto& table : tables) {
            OPGAUGE_TRY_ASSIGN(auto rows, read_rows(*database, table, options));
            imported.push_back(std::move(rows));
        }
        give_winners_their_times(imported);
        return imported;
    });
}

Result<void> write_tables(const std::filesystem::path& path,
                          const std::vector<ImportedTable>& tables) {
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(path, DatabaseAccess::create));
    return with_sqlite("write", store.database(), [&]() -> Result<void> {
        SQLite::Transaction transaction(store.database());
        StoreRows rows(store.database());
        for (const auto& table : tables) {
            rows.id_of(table.space);
            for (const auto& row : table.rows) rows.put(table.space.kind, row);
        }
        transaction.commit();
        return {};
    });
}

}  // namespace

Result<MergeReport> import_flaggems(const std::filesystem::path& file,
                                    const std::filesystem::path& target,
                                    const ImportOptions& options) {
    OPGAUGE_TRY_ASSIGN(const auto tables, read_file_tables(file, options));
    OPGAUGE_TRY_ASSIGN(const auto between, unused_name_beside(target));
    std::error_code ignored;
    std::filesystem::remove(between, ignored);
    auto done = write_tables(between, tables).and_then([&] {
        const std::vector<MergeSource> sources = {{between, file.string()}};
        return merge_stores(target, sources);
    });
    std::filesystem::remove(between, ignored);
    return done;
}

}  // namespace opgauge
