// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/commit_file.h"
#include "opgauge/base/text.h"
#include "opgauge/tuning/flaggems_database.h"
#include "opgauge/tuning/flaggems_key.h"
#include "opgauge/tuning/flaggems_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

namespace opgauge {
namespace {

struct Group {
    Space space;
    std::vector<TunedConfig> rows;
};

std::string type_of(const Json& value) {
    if (value.is_number_float()) return "FLOAT";
    return value.is_string() || value.is_null() ? "VARCHAR" : "BIGINT";
}

Json key_of(const Group& group, const TunedConfig& row) {
    const Json& key = row.key.key;
    if (!key.is_array()) return key;
    const std::size_t more = group.space.kind == SpaceKind::timings ? row.config.size() : 0;
    return key.size() + more > kFlagGemsKeyColumns ? hashed_form(key) : key;
}

// The table that FlagGems would make for this row.
FlagGemsTable table_for(const Group& group, const TunedConfig& row) {
    FlagGemsTable table;
    table.kind = group.space.kind;
    const Json key = key_of(group, row);
    table.hashed = !key.is_array();
    int place = 0;
    if (table.hashed) {
        for (const char* name : {"key_hash", "key_blob"}) {
            table.columns.push_back({name, "VARCHAR", ++place});
        }
    } else {
        for (const auto& part : key) {
            table.columns.push_back({fmt::format("key_{}", place), type_of(part), place + 1});
            ++place;
        }
    }
    table.key_columns = table.columns.size();
    const bool timings = table.kind == SpaceKind::timings;
    for (const auto& [name, value] : row.config.items()) {
        table.columns.push_back({name, type_of(value), timings ? ++place : 0});
    }
    table.config_columns = table.columns.size() - table.key_columns;
    if (!timings) return table;
    for (const char* name : {"p50", "p20", "p80"}) table.columns.push_back({name, "FLOAT", 0});
    return table;
}

std::vector<std::string> names_of(const FlagGemsTable& table) {
    std::vector<std::string> names;
    for (const auto& column : table.columns) names.push_back(column.name);
    return names;
}

// The columns of the table that was imported, where its rows still have them all.
void take_imported_columns(FlagGemsTable& table, const Space& space) {
    const auto columns = parse_json(space.columns, "columns of a space");
    if (!columns || !columns->is_array() || columns->size() != table.columns.size()) return;
    std::vector<FlagGemsColumn> found;
    for (const auto& column : *columns) {
        if (!column.is_array() || column.size() != 3 || !column[0].is_string() ||
            !column[1].is_string()) {
            return;
        }
        found.push_back({column[0].get<std::string>(), column[1].get<std::string>(),
                         integer_in<int>(column[2]).value_or(0)});
        if (found.back().name != table.columns[found.size() - 1].name) return;
    }
    table.columns = std::move(found);
}

// A declared type is put into SQL as it is, so only words and numbers may be in it.
bool is_plain_type(const std::string& type) {
    return type.find_first_not_of(
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
               " (),_") == std::string::npos;
}

std::string create_statement(const FlagGemsTable& table) {
    std::vector<std::string> parts;
    std::vector<std::pair<int, std::string>> key;
    for (const auto& column : table.columns) {
        const std::string name = quoted_identifier(column.name);
        parts.push_back(fmt::format("\n\t{} {} NOT NULL", name,
                                    is_plain_type(column.type) ? column.type : "VARCHAR"));
        if (column.place_in_key > 0) key.emplace_back(column.place_in_key, name);
    }
    std::sort(key.begin(), key.end());
    std::vector<std::string> names;
    for (const auto& [place, name] : key) names.push_back(name);
    parts.push_back(fmt::format("\n\tPRIMARY KEY ({})", join(names, ", ")));
    return fmt::format("CREATE TABLE {} ({}\n)", quoted_identifier(table.name), join(parts, ", "));
}

void bind_value(SQLite::Statement& statement, int index, const Json& value) {
    if (value.is_boolean()) {
        statement.bind(index, value.get<bool>() ? 1 : 0);
    } else if (value.is_number_integer()) {
        statement.bind(index, static_cast<std::int64_t>(value.get<std::int64_t>()));
    } else if (value.is_number_float()) {
        statement.bind(index, value.get<double>());
    } else {
        statement.bind(index, python_text(value));
    }
}

Result<void> write_row(SQLite::Statement& insert, const Group& group, const TunedConfig& row,
                       const FlagGemsTable& table) {
    const Json key = key_of(group, row);
    if (names_of(table_for(group, row)) != names_of(table)) {
        return fail(ErrorKind::refused,
                    fmt::format("cannot export {}: its configurations have different sets of "
                                "fields, which one table cannot hold: {}",
                                printable(group.space.name, 200), config_text(row.config)));
    }
    insert.reset();
    int index = 0;
    for (const auto& [name, part] : key.items()) bind_value(insert, ++index, part);
    for (const auto& [name, value] : row.config.items()) bind_value(insert, ++index, value);
    if (group.space.kind == SpaceKind::timings) {
        for (const double time : {row.times.p50, row.times.p20, row.times.p80}) {
            insert.bind(++index, time);
        }
    }
    if (insert.tryExecuteStep() == 101) return {};  // SQLITE_DONE
    return fail(ErrorKind::refused,
                fmt::format("cannot export {}: {} at {} does not fit: {}; choose one scope with "
                            "--scope, or leave it out",
                            printable(group.space.name, 200), config_text(row.config),
                            printable(lookup_text(key)), printable(insert.getErrorMsg())));
}

Result<void> write_group(SQLite::Database& database, const Group& group) {
    FlagGemsTable table = table_for(group, group.rows.front());
    take_imported_columns(table, group.space);
    table.name = flaggems_table_name(group.space.name, table);
    database.exec(create_statement(table));
    std::vector<std::string> names;
    std::vector<std::string> marks;
    for (const auto& column : table.columns) {
        names.push_back(quoted_identifier(column.name));
        marks.emplace_back("?");
    }
    SQLite::Statement insert(
        database, fmt::format("INSERT INTO {} ({}) VALUES ({})", quoted_identifier(table.name),
                              join(names, ", "), join(marks, ", ")));
    for (const auto& row : group.rows) OPGAUGE_TRY(write_row(insert, group, row, table));
    return {};
}

bool has_facts(const Scope& scope, const std::vector<std::pair<std::string, std::string>>& facts) {
    Scope wanted = scope;
    for (const auto& [name, value] : facts) {
        if (!set_fact(wanted, name, value)) return false;
    }
    return wanted == scope;
}

Result<std::vector<Group>> read_groups(
    TuningStore& store, const std::vector<std::pair<std::string, std::string>>& facts,
    ExportReport& report) {
    std::map<std::tuple<int, std::string, std::string>, Group> groups;
    const auto spaces = with_sqlite(
        "read", store.database(),
        [&]() -> Result<std::map<std::int64_t, Space>> { return spaces_of(store.database()); });
    if (!spaces) return tl::unexpected<Error>(spaces.error());
    for (const auto& [id, space] : *spaces) {
        groups[{static_cast<int>(space.kind), space.kernel, space.name}].space = space;
    }
    for (const auto kind : {SpaceKind::winners, SpaceKind::timings}) {
        OPGAUGE_TRY_ASSIGN(auto rows, read_tuned(store.database(), kind, {}));
        for (auto& row : rows) {
            if (!has_facts(row.scope, facts)) continue;
            if (row.key.space.empty()) {
                ++report.left_out;
                continue;
            }
            ++(kind == SpaceKind::winners ? report.winners : report.timings);
            auto& group = groups[{static_cast<int>(kind), row.key.kernel, row.key.space}];
            group.rows.push_back(std::move(row));
        }
    }
    std::vector<Group> filled;
    for (auto& [name, group] : groups) {
        if (!group.rows.empty()) filled.push_back(std::move(group));
    }
    return filled;
}

}  // namespace

Result<ExportReport> export_flaggems(
    TuningStore& store, const std::filesystem::path& file,
    const std::vector<std::pair<std::string, std::string>>& facts) {
    Scope checked;
    for (const auto& [name, value] : facts) OPGAUGE_TRY(set_fact(checked, name, value));
    ExportReport report;
    OPGAUGE_TRY_ASSIGN(const auto groups, read_groups(store, facts, report));
    report.tables = groups.size();
    OPGAUGE_TRY_ASSIGN(const auto unfinished, unused_name_beside(file));
    OPGAUGE_TRY_ASSIGN(auto database,
                       open_database(unfinished, DatabaseAccess::create, kDatabaseWait));
    const auto written = with_sqlite("write", *database, [&]() -> Result<void> {
        SQLite::Transaction transaction(*database);
        for (const auto& group : groups) OPGAUGE_TRY(write_group(*database, group));
        transaction.commit();
        return {};
    });
    database.reset();
    std::error_code ignored;
    if (!written) {
        std::filesystem::remove(unfinished, ignored);
        return tl::unexpected<Error>(written.error());
    }
    OPGAUGE_TRY(commit_file(unfinished, file, IfThere::refuse));
    return report;
}

}  // namespace opgauge
