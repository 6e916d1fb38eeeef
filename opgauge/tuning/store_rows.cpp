// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/store_rows.h"

#include <fmt/format.h>

#include <cmath>

namespace opgauge {
namespace {

// What is compared, best first: a usable time, quiet conditions, shorter times; then texts, so that
// the choice never depends on the order in which rows come. {0} is "excluded" or the table.
constexpr std::string_view kRank =
    "(coalesce({0}.p50 > 0 AND {0}.p50 < 9e999, 0) = 0, -{0}.conditions, coalesce({0}.p50, 1e308), "
    "coalesce({0}.p20, 1e308), coalesce({0}.p80, 1e308), {0}.config, {0}.key{1})";

std::string put_statement(SpaceKind kind) {
    const bool winner = kind == SpaceKind::winners;
    const std::string_view table = winner ? "winners" : "timings";
    const std::string_view extra = winner ? "raw_key" : "config_id";
    const std::string_view last = winner ? ", {0}.raw_key" : "";
    const auto rank = [&](std::string_view of) {
        return fmt::format(fmt::runtime(kRank), of, fmt::format(fmt::runtime(last), of));
    };
    return fmt::format(
        "INSERT INTO {0} (space_id, lookup, scope_id, key, config, p50, p20, p80, conditions, {1}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET key = excluded.key, "
        "config = excluded.config, p50 = excluded.p50, p20 = excluded.p20, p80 = excluded.p80, "
        "conditions = excluded.conditions, {1} = excluded.{1} WHERE {2} < {3}",
        table, extra, rank("excluded"), rank(table));
}

std::string_view table_of(SpaceKind kind) {
    return kind == SpaceKind::winners ? "winners" : "timings";
}

}  // namespace

double time_at(SQLite::Statement& row, int index) {
    const SQLite::Column column = row.getColumn(index);
    return column.isNull() ? std::nan("") : column.getDouble();
}

StoreRows::StoreRows(SQLite::Database& database)
    : database_(database),
      put_winner_(database, put_statement(SpaceKind::winners)),
      put_timing_(database, put_statement(SpaceKind::timings)) {}

std::int64_t StoreRows::id_of(const Space& space) {
    const std::string kind(table_of(space.kind));
    const auto [known, is_new] =
        spaces_.try_emplace(to_line(Json::array({kind, space.kernel, space.name, space.columns})));
    if (!is_new) return known->second;
    SQLite::Statement insert(database_,
                             "INSERT INTO spaces (kind, kernel, name, columns) VALUES (?, ?, ?, ?) "
                             "ON CONFLICT DO UPDATE SET columns = min(columns, excluded.columns)");
    insert.bind(1, kind);
    insert.bind(2, space.kernel);
    insert.bind(3, space.name);
    insert.bind(4, space.columns);
    insert.exec();
    SQLite::Statement find(database_,
                           "SELECT id FROM spaces WHERE kind = ? AND kernel = ? AND name = ?");
    find.bind(1, kind);
    find.bind(2, space.kernel);
    find.bind(3, space.name);
    find.executeStep();
    return known->second = find.getColumn(0).getInt64();
}

std::int64_t StoreRows::id_of_scope(const std::string& facts) {
    const auto [known, is_new] = scopes_.try_emplace(facts);
    if (!is_new) return known->second;
    SQLite::Statement insert(database_,
                             "INSERT INTO scopes (facts) VALUES (?) "
                             "ON CONFLICT DO NOTHING");
    insert.bind(1, facts);
    insert.exec();
    SQLite::Statement find(database_, "SELECT id FROM scopes WHERE facts = ?");
    find.bind(1, facts);
    find.executeStep();
    return known->second = find.getColumn(0).getInt64();
}

void StoreRows::put(SpaceKind kind, const StoredRow& row) {
    auto& statement = kind == SpaceKind::winners ? put_winner_ : put_timing_;
    statement.reset();
    statement.bind(1, row.space_id);
    statement.bindNoCopy(2, row.lookup);
    statement.bind(3, row.scope_id);
    statement.bindNoCopy(4, row.key);
    statement.bindNoCopy(5, row.config);
    statement.bind(6, row.times.p50);  // sqlite stores NaN as NULL
    statement.bind(7, row.times.p20);
    statement.bind(8, row.times.p80);
    statement.bind(9, static_cast<int>(row.conditions));
    statement.bindNoCopy(10, kind == SpaceKind::winners ? row.raw_key : row.config_id);
    statement.exec();
}

void StoreRows::put(SpaceKind kind, const TunedConfig& tuned) {
    StoredRow row;
    row.space_id = id_of({kind, tuned.key.kernel, tuned.key.space, "[]"});
    row.scope_id = id_of_scope(to_line(to_json(tuned.scope)));
    row.lookup = lookup_text(tuned.key.key);
    row.config_id = config_id(tuned.config);
    row.key = to_line(tuned.key.key);
    row.raw_key = to_line(tuned.key.raw_key);
    row.config = to_line(tuned.config);
    row.times = tuned.times;
    row.conditions = tuned.conditions;
    put(kind, row);
}

std::map<std::int64_t, Space> spaces_of(SQLite::Database& database) {
    std::map<std::int64_t, Space> spaces;
    SQLite::Statement rows(database, "SELECT id, kind, kernel, name, columns FROM spaces");
    while (rows.executeStep()) {
        const std::string kind = rows.getColumn(1).getString();
        spaces[rows.getColumn(0).getInt64()] = {
            kind == "winners" ? SpaceKind::winners : SpaceKind::timings,
            rows.getColumn(2).getString(), rows.getColumn(3).getString(),
            rows.getColumn(4).getString()};
    }
    return spaces;
}

std::map<std::int64_t, std::string> scopes_of(SQLite::Database& database) {
    std::map<std::int64_t, std::string> scopes;
    SQLite::Statement rows(database, "SELECT id, facts FROM scopes");
    while (rows.executeStep()) scopes[rows.getColumn(0).getInt64()] = rows.getColumn(1).getString();
    return scopes;
}

void for_each_row(SQLite::Database& database, SpaceKind kind, std::string_view kernel,
                  const std::function<void(const StoredRow&)>& take) {
    const bool winner = kind == SpaceKind::winners;
    const std::string filter =
        kernel.empty() ? "" : " WHERE space_id IN (SELECT id FROM spaces WHERE kernel = ?)";
    SQLite::Statement rows(
        database, fmt::format("SELECT space_id, scope_id, lookup, key, config, p50, p20, p80, "
                              "conditions, {} FROM {}{} ORDER BY space_id, lookup, scope_id{}",
                              winner ? "raw_key" : "config_id", table_of(kind), filter,
                              winner ? "" : ", config_id"));
    if (!kernel.empty()) rows.bind(1, std::string(kernel));
    StoredRow row;
    while (rows.executeStep()) {
        row.space_id = rows.getColumn(0).getInt64();
        row.scope_id = rows.getColumn(1).getInt64();
        row.lookup = rows.getColumn(2).getString();
        row.key = rows.getColumn(3).getString();
        row.config = rows.getColumn(4).getString();
        row.times = {time_at(rows, 5), time_at(rows, 6), time_at(rows, 7)};
        row.conditions = static_cast<Conditions>(rows.getColumn(8).getInt());
        (winner ? row.raw_key : row.config_id) = rows.getColumn(9).getString();
        take(row);
    }
}

Result<TunedConfig> tuned_from(const StoredRow& row, const Space& space, const std::string& scope) {
    TunedConfig tuned;
    tuned.key.kernel = space.kernel;
    tuned.key.space = space.name;
    OPGAUGE_TRY_ASSIGN(tuned.key.key, parse_json(row.key, "a key of a tuning store"));
    OPGAUGE_TRY_ASSIGN(tuned.key.raw_key, parse_json(row.raw_key, "a raw key of a tuning store"));
    OPGAUGE_TRY_ASSIGN(tuned.config, parse_json(row.config, "a configuration of a tuning store"));
    OPGAUGE_TRY_ASSIGN(const Json facts, parse_json(scope, "a scope of a tuning store"));
    if (!tuned.config.is_object()) {
        return fail(ErrorKind::usage, "a configuration of a tuning store is not a JSON object");
    }
    tuned.scope = scope_from_json(facts);
    tuned.times = row.times;
    tuned.conditions = row.conditions;
    return tuned;
}

Result<std::vector<TunedConfig>> read_tuned(SQLite::Database& database, SpaceKind kind,
                                            std::string_view kernel) {
    return with_sqlite("read", database, [&]() -> Result<std::vector<TunedConfig>> {
        const auto spaces = spaces_of(database);
        const auto scopes = scopes_of(database);
        std::vector<TunedConfig> all;
        std::optional<Error> trouble;
        for_each_row(database, kind, kernel, [&](const StoredRow& row) {
            const auto space = spaces.find(row.space_id);
            const auto scope = scopes.find(row.scope_id);
            if (trouble || space == spaces.end() || scope == scopes.end()) return;
            auto tuned = tuned_from(row, space->second, scope->second);
            if (tuned) all.push_back(std::move(*tuned));
            if (!tuned) trouble = tuned.error();
        });
        if (trouble) return tl::unexpected<Error>(*trouble);
        return all;
    });
}

}  // namespace opgauge
