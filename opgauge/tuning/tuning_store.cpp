// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/tuning_store.h"

#include "opgauge/base/commit_file.h"
#include "opgauge/base/text.h"
#include "opgauge/tuning/store_rows.h"

#include <fmt/format.h>

#include <array>
#include <map>

// Defined in the source that cmake/embed_text.cmake writes from tuning_schema.sql.
extern const std::string_view tuning_schema;

namespace opgauge {
namespace {

constexpr int kApplicationId = 0x4f504754;  // "OPGT"

void write_schema(SQLite::Database& database) {
    SQLite::Transaction transaction(database);
    database.exec(std::string(tuning_schema));
    database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                              kApplicationId, kTuningSchemaVersion));
    transaction.commit();
}

using Objects = std::map<std::string, std::string>;

Objects objects_of(SQLite::Database& database) {
    Objects objects;
    SQLite::Statement rows(database,
                           "SELECT type || ' ' || name, coalesce(sql, '') "
                           "FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
    while (rows.executeStep())
        objects[rows.getColumn(0).getString()] = rows.getColumn(1).getString();
    return objects;
}

// A store that came from elsewhere may hold triggers or views, or tables that only look like ours.
Result<void> check_schema(SQLite::Database& database, const std::filesystem::path& path) {
    SQLite::Database ours(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    write_schema(ours);
    const Objects wanted = objects_of(ours);
    const Objects found = objects_of(database);
    for (const auto& [name, sql] : found) {
        const auto known = wanted.find(name);
        if (known != wanted.end() && known->second == sql) continue;
        return fail(ErrorKind::usage,
                    fmt::format("cannot use {}: its {} is none of a tuning store's", path.string(),
                                printable(name)));
    }
    if (found.size() == wanted.size()) return {};
    return fail(ErrorKind::usage,
                fmt::format("cannot use {}: it lacks tables of a tuning store", path.string()));
}

Result<void> check_version(SQLite::Database& database, const std::filesystem::path& path) {
    if (database.execAndGet("PRAGMA application_id").getInt() != kApplicationId) {
        return fail(ErrorKind::usage,
                    fmt::format("cannot use {}: it is a database, but no tuning store of opgauge; "
                                "another tuner's file is read by `opgauge tune import`",
                                path.string()));
    }
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    if (version == kTuningSchemaVersion) return check_schema(database, path);
    return fail(ErrorKind::refused,
                fmt::format("cannot use {}: its schema has version {}, this opgauge knows {}; use "
                            "the opgauge that wrote it",
                            path.string(), version, kTuningSchemaVersion));
}

Result<void> make_store(const std::filesystem::path& path) {
    OPGAUGE_TRY_ASSIGN(const auto unfinished, unused_name_beside(path));
    OPGAUGE_TRY_ASSIGN(auto database,
                       open_database(unfinished, DatabaseAccess::create, kDatabaseWait));
    const auto written = with_sqlite("create", *database, [&]() -> Result<void> {
        write_schema(*database);
        return {};
    });
    database.reset();
    if (!written) {
        std::error_code ignored;
        std::filesystem::remove(unfinished, ignored);
        return written;
    }
    auto done = commit_file(unfinished, path, IfThere::refuse);
    // Another process may have made it in the meantime: then that one is used.
    if (!done && done.error().kind == ErrorKind::refused) return {};
    return done;
}

}  // namespace

std::string_view name_of(EvictionKind kind) {
    constexpr std::array<std::string_view, 3> kNames = {"error", "out_of_resources", "timeout"};
    return kNames.at(static_cast<std::size_t>(kind));
}

std::filesystem::path store_file(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) ? path / "tuning.db" : path;
}

TuningStore::TuningStore(std::unique_ptr<SQLite::Database> database, std::filesystem::path path)
    : database_(std::move(database)), path_(std::move(path)) {}

Result<TuningStore> TuningStore::open(const std::filesystem::path& path, DatabaseAccess access,
                                      std::chrono::milliseconds wait) {
    std::error_code error;
    const auto file = store_file(path);
    if (access == DatabaseAccess::create && !std::filesystem::exists(file, error)) {
        OPGAUGE_TRY(make_store(file));
    }
    const auto existing =
        access == DatabaseAccess::read ? DatabaseAccess::read : DatabaseAccess::write;
    OPGAUGE_TRY_ASSIGN(auto database, open_database(file, existing, wait));
    OPGAUGE_TRY(with_sqlite("open", *database, [&] { return check_version(*database, file); }));
    OPGAUGE_TRY(with_sqlite("open", *database, [&]() -> Result<void> {
        // EXTRA also syncs the folder when the journal goes, so a commit outlives a power loss.
        database->exec("PRAGMA synchronous = EXTRA");
        return {};
    }));
    if (access == DatabaseAccess::read) OPGAUGE_TRY(check_pages(*database));
    return TuningStore(std::move(database), file);
}

Result<void> TuningStore::record(const Winner& winner, std::span<const Timing> timings) {
    if (!winner.times.usable()) {
        return fail(ErrorKind::refused,
                    fmt::format("cannot record a winner of {} at {}: its time is {} ms, so no "
                                "configuration works",
                                printable(winner.key.kernel),
                                printable(lookup_text(winner.key.key)), winner.times.p50));
    }
    return with_sqlite("write", *database_, [&]() -> Result<void> {
        SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
        StoreRows rows(*database_);
        for (const auto& timing : timings) rows.put(SpaceKind::timings, timing);
        rows.put(SpaceKind::winners, winner);
        transaction.commit();
        return {};
    });
}

Result<void> TuningStore::put_all(SpaceKind kind, std::span<const TunedConfig> all) {
    return with_sqlite("write", *database_, [&]() -> Result<void> {
        SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
        StoreRows rows(*database_);
        for (const auto& one : all) rows.put(kind, one);
        transaction.commit();
        return {};
    });
}

Result<void> TuningStore::put_timings(std::span<const Timing> timings) {
    return put_all(SpaceKind::timings, timings);
}

Result<void> TuningStore::put_winners(std::span<const Winner> winners) {
    return put_all(SpaceKind::winners, winners);
}

Result<std::optional<Winner>> TuningStore::find_winner(const TuningKey& key, const Scope& scope) {
    return with_sqlite("read", *database_, [&]() -> Result<std::optional<Winner>> {
        SQLite::Statement find(
            *database_,
            "SELECT w.key, w.raw_key, w.config, w.p50, w.p20, w.p80, w.conditions, s.name FROM "
            "winners w JOIN spaces s ON s.id = w.space_id WHERE s.kind = 'winners' AND s.kernel = "
            "? "
            "AND w.lookup = ? AND w.scope_id = (SELECT id FROM scopes WHERE facts = ?) "
            "ORDER BY s.name = ? DESC, s.name LIMIT 1");
        const std::string facts = to_line(to_json(scope));
        find.bind(1, key.kernel);
        find.bind(2, lookup_text(key.key));
        find.bind(3, facts);
        find.bind(4, key.space);
        if (!find.executeStep()) return std::optional<Winner>();
        StoredRow row;
        row.key = find.getColumn(0).getString();
        row.raw_key = find.getColumn(1).getString();
        row.config = find.getColumn(2).getString();
        row.times = {time_at(find, 3), time_at(find, 4), time_at(find, 5)};
        row.conditions = static_cast<Conditions>(find.getColumn(6).getInt());
        const Space space{SpaceKind::winners, key.kernel, find.getColumn(7).getString(), "[]"};
        OPGAUGE_TRY_ASSIGN(Winner winner, tuned_from(row, space, facts));
        return std::optional(std::move(winner));
    });
}

Result<std::vector<Winner>> TuningStore::winners(std::string_view kernel) {
    return read_tuned(*database_, SpaceKind::winners, kernel);
}

Result<std::vector<Timing>> TuningStore::timings(std::string_view kernel) {
    return read_tuned(*database_, SpaceKind::timings, kernel);
}

Result<StoreSize> TuningStore::size() {
    return with_sqlite("read", *database_, [&]() -> Result<StoreSize> {
        return StoreSize{database_->execAndGet("SELECT count(*) FROM winners").getInt64(),
                         database_->execAndGet("SELECT count(*) FROM timings").getInt64()};
    });
}

Result<bool> TuningStore::drop_winner(const TuningKey& key, const Scope& scope, EvictionKind kind) {
    OPGAUGE_TRY_ASSIGN(const auto winner, find_winner(key, scope));
    if (!winner) return false;
    return with_sqlite("write", *database_, [&]() -> Result<bool> {
        SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
        StoreRows rows(*database_);
        const auto space =
            rows.id_of({SpaceKind::winners, winner->key.kernel, winner->key.space, "[]"});
        const auto scope_id = rows.id_of_scope(to_line(to_json(scope)));
        const std::string lookup = lookup_text(key.key);
        const std::string config = config_id(winner->config);
        const auto run = [&](const char* sql, auto&&... values) {
            SQLite::Statement statement(*database_, sql);
            int index = 0;
            (statement.bind(++index, values), ...);
            statement.exec();
        };
        run("INSERT OR REPLACE INTO evictions VALUES (?, ?, ?, ?, ?)", space, lookup, scope_id,
            config, std::string(name_of(kind)));
        run("DELETE FROM winners WHERE space_id = ? AND lookup = ? AND scope_id = ?", space, lookup,
            scope_id);
        // A timing's key is the raw key, or begins with it: some tuners add how they timed.
        const Json& raw = winner->key.raw_key.empty() ? winner->key.key : winner->key.raw_key;
        std::string start = lookup_text(raw);
        start.back() = ',';
        run("DELETE FROM timings WHERE config_id = ? AND scope_id = ? AND space_id IN (SELECT id "
            "FROM spaces WHERE kernel = ?) AND (lookup = ? OR substr(lookup, 1, length(?)) = ?)",
            config, scope_id, winner->key.kernel, lookup_text(raw), start, start);
        transaction.commit();
        return true;
    });
}

Result<std::vector<Eviction>> TuningStore::evictions() {
    return with_sqlite("read", *database_, [&]() -> Result<std::vector<Eviction>> {
        std::vector<Eviction> all;
        SQLite::Statement rows(*database_,
                               "SELECT s.kernel, e.lookup, e.config_id, e.kind FROM evictions e "
                               "JOIN spaces s ON s.id = e.space_id ORDER BY 1, 2, 3");
        while (rows.executeStep()) {
            all.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                           rows.getColumn(2).getString(), rows.getColumn(3).getString()});
        }
        return all;
    });
}

}  // namespace opgauge
