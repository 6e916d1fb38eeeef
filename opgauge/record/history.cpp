// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/history.h"

#include "opgauge/base/text.h"
#include "opgauge/record/caliber.h"
#include "opgauge/record/result_reader.h"
#include "opgauge/record/run_dir.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

// Defined in the source that cmake/embed_text.cmake writes from history_schema.sql.
extern const std::string_view history_schema;

namespace opgauge {
namespace {

constexpr int kApplicationId = 0x4f504748;  // "OPGH"
constexpr int kSchemaVersion = 1;

// Of the files that an index is made of: changes whenever one of them does.
std::string stamp_of(const std::filesystem::path& run_dir) {
    std::string stamp;
    for (const char* name : {RunFiles::kIdentity, RunFiles::kRows, RunFiles::kStatus}) {
        std::error_code error;
        const auto size = std::filesystem::file_size(run_dir / name, error);
        const auto time = std::filesystem::last_write_time(run_dir / name, error);
        stamp += error ? std::string("-;")
                       : fmt::format("{}@{};", size, time.time_since_epoch().count());
    }
    return stamp;
}

std::string absolute_text(const std::filesystem::path& path) {
    std::error_code error;
    const auto absolute = std::filesystem::weakly_canonical(path, error);
    return (error ? path : absolute).string();
}

std::set<std::string> absolute_texts(std::span<const std::filesystem::path> folders) {
    std::set<std::string> texts;
    for (const auto& folder : folders) texts.insert(absolute_text(folder));
    return texts;
}

Result<void> prepare(SQLite::Database& database, const std::filesystem::path& path) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const int application = database.execAndGet("PRAGMA application_id").getInt();
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    const int tables = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt();
    if (tables == 0 && application == 0) {
        database.exec(std::string(history_schema));
        database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                  kApplicationId, kSchemaVersion));
        transaction.commit();
        return {};
    }
    if (application != kApplicationId) {
        return fail(ErrorKind::usage,
                    fmt::format("cannot use {}: it is a database, but no history of opgauge; name "
                                "another file with --index",
                                path.string()));
    }
    if (version == kSchemaVersion) return {};
    return fail(ErrorKind::refused,
                fmt::format("cannot use {}: its schema has version {}, this opgauge knows {}; "
                            "remove it, and `opgauge history DIR` makes it again",
                            path.string(), version, kSchemaVersion));
}

std::string operator_of(const RecordedRun& run) {
    if (!run.rows.empty()) return run.rows.front().work.operator_name;
    const std::string id = get_string(run.identity, "run_id");
    return id.substr(0, id.rfind("-20"));
}

void bind_number(SQLite::Statement& statement, int place, const std::optional<double>& value) {
    if (value) {
        statement.bind(place, *value);
    } else {
        statement.bind(place);
    }
}

void put_run(SQLite::Database& database, const std::string& directory, const RecordedRun& run) {
    const Json status = run.status.value_or(Json::object());
    SQLite::Statement insert(database,
                             "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, directory);
    insert.bind(2, stamp_of(run.directory));
    insert.bind(3, get_string(run.identity, "run_id"));
    insert.bind(4, operator_of(run));
    insert.bind(5, get_string(run.identity, "created_utc"));
    insert.bind(6, get_string(run.identity, "caliber_id"));
    insert.bind(7, setup_id(run.identity));
    insert.bind(8, get_string(run.identity.value("device", Json::object()), "name"));
    insert.bind(9, run.status ? get_string(status, "status", "unknown") : "incomplete");
    insert.bind(10, static_cast<std::int64_t>(run.rows.size()));
    std::vector<double> speedups;
    for (const auto& row : run.rows) {
        const auto speedup = row.speedup();
        if (speedup && row.flags.empty()) speedups.push_back(*speedup);
    }
    bind_number(insert, 11, geometric_mean(speedups));
    insert.bind(12, static_cast<std::int64_t>(speedups.size()));
    insert.exec();
}

std::optional<double> median_of(const std::optional<SideResult>& side) {
    return side && side->summary ? std::optional(side->summary->median) : std::nullopt;
}

void put_cases(SQLite::Database& database, const std::string& directory, const RecordedRun& run) {
    // A run that was put together by hand may use an index twice: the last row stands.
    SQLite::Statement insert(
        database, "INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const auto& row : run.rows) {
        insert.reset();
        insert.bind(1, directory);
        insert.bind(2, row.index);
        insert.bind(3, row.case_id);
        insert.bind(4, row.caliber_id);
        insert.bind(5, row.work.operator_name);
        insert.bind(6, row.work.dtype);
        insert.bind(7, shapes_text(row.work));
        insert.bind(8, std::string(name_of(row.status)));
        insert.bind(9, join(row.flags, ","));
        bind_number(insert, 10, median_of(row.base));
        bind_number(insert, 11, median_of(row.candidate));
        bind_number(insert, 12, row.speedup());
        insert.exec();
    }
}

void forget(SQLite::Database& database, const std::string& directory) {
    for (const char* table : {"cases", "runs"}) {
        SQLite::Statement remove(database,
                                 fmt::format("DELETE FROM {} WHERE directory = ?", table));
        remove.bind(1, directory);
        remove.exec();
    }
}

bool is_known(SQLite::Database& database, const std::string& directory, const std::string& stamp) {
    SQLite::Statement known(database, "SELECT 1 FROM runs WHERE directory = ? AND stamp = ?");
    known.bind(1, directory);
    known.bind(2, stamp);
    return known.executeStep();
}

constexpr const char* kRunColumns =
    "runs.directory, runs.run_id, runs.operator, runs.created_utc, runs.caliber_id, runs.setup_id, "
    "runs.device, runs.status, runs.row_count, runs.geomean, runs.geomean_n";
constexpr int kRunColumnCount = 11;

std::optional<double> number_at(const SQLite::Statement& row, int place) {
    const auto column = row.getColumn(place);
    return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

std::string text_at(const SQLite::Statement& row, int place) {
    return row.getColumn(place).getString();
}

IndexedRun run_at(const SQLite::Statement& row) {
    return {text_at(row, 0),
            text_at(row, 1),
            text_at(row, 2),
            text_at(row, 3),
            text_at(row, 4),
            text_at(row, 5),
            text_at(row, 6),
            text_at(row, 7),
            static_cast<std::size_t>(row.getColumn(8).getInt64()),
            number_at(row, 9),
            static_cast<std::size_t>(row.getColumn(10).getInt64())};
}

bool begins_with(const IndexedCase& entry, std::string_view id) {
    return entry.caliber_id.starts_with(id) || entry.run.caliber_id.starts_with(id) ||
           entry.run.setup_id.starts_with(id);
}

}  // namespace

HistoryIndex::HistoryIndex(std::unique_ptr<SQLite::Database> database)
    : database_(std::move(database)) {}

Result<HistoryIndex> HistoryIndex::open(const std::filesystem::path& path) {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot make the folder of {}: {}; name another file with --index",
                                path.string(), error.message()));
    }
    OPGAUGE_TRY_ASSIGN(auto database, open_database(path, DatabaseAccess::create, kDatabaseWait));
    OPGAUGE_TRY(with_sqlite("open", *database, [&] { return prepare(*database, path); }));
    return HistoryIndex(std::move(database));
}

Result<HistoryUpdate> HistoryIndex::update(std::span<const std::filesystem::path> folders) {
    return with_sqlite("write", *database_, [&]() -> Result<HistoryUpdate> {
        HistoryUpdate update;
        SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
        for (const auto& folder : folders) {
            const std::string directory = absolute_text(folder);
            if (is_known(*database_, directory, stamp_of(folder))) {
                ++update.unchanged;
                continue;
            }
            const auto run = read_run(folder);
            if (!run) {
                update.warnings.push_back(run.error().message);
                continue;
            }
            forget(*database_, directory);
            put_run(*database_, directory, *run);
            put_cases(*database_, directory, *run);
            ++update.read;
        }
        transaction.commit();
        return update;
    });
}

Result<std::vector<IndexedRun>> HistoryIndex::runs(
    std::span<const std::filesystem::path> folders) const {
    return with_sqlite("read", *database_, [&]() -> Result<std::vector<IndexedRun>> {
        const std::set<std::string> wanted = absolute_texts(folders);
        std::vector<IndexedRun> runs;
        SQLite::Statement rows(
            *database_,
            fmt::format("SELECT {} FROM runs ORDER BY created_utc, directory", kRunColumns));
        while (rows.executeStep()) {
            IndexedRun run = run_at(rows);
            if (!wanted.empty() && wanted.count(run.directory) == 0) continue;
            runs.push_back(std::move(run));
        }
        return runs;
    });
}

Result<std::vector<IndexedCase>> HistoryIndex::cases(
    const std::string& operator_name, std::span<const std::filesystem::path> folders) const {
    return with_sqlite("read", *database_, [&]() -> Result<std::vector<IndexedCase>> {
        const std::set<std::string> wanted = absolute_texts(folders);
        SQLite::Statement rows(
            *database_,
            fmt::format("SELECT {}, case_id, cases.caliber_id, dtype, shapes, cases.status, flags, "
                        "base_ns, candidate_ns, speedup FROM cases JOIN runs USING (directory) "
                        "WHERE cases.operator = ? "
                        "ORDER BY dtype, shapes, case_id, created_utc, directory, row_index",
                        kRunColumns));
        rows.bind(1, operator_name);
        std::vector<IndexedCase> cases;
        constexpr int kFirst = kRunColumnCount;
        while (rows.executeStep()) {
            IndexedCase entry{run_at(rows),
                              text_at(rows, kFirst),
                              text_at(rows, kFirst + 1),
                              text_at(rows, kFirst + 2),
                              text_at(rows, kFirst + 3),
                              text_at(rows, kFirst + 4),
                              text_at(rows, kFirst + 5),
                              number_at(rows, kFirst + 6),
                              number_at(rows, kFirst + 7),
                              number_at(rows, kFirst + 8)};
            if (!wanted.empty() && wanted.count(entry.run.directory) == 0) continue;
            cases.push_back(std::move(entry));
        }
        return cases;
    });
}

std::vector<IndexedCase> within_one_caliber(std::vector<IndexedCase> cases, std::string_view id) {
    if (!id.empty()) {
        std::erase_if(cases, [&](const IndexedCase& entry) { return !begins_with(entry, id); });
    }
    std::map<std::string, std::string> newest;  // of each case; they are in the order of time
    for (const auto& entry : cases) {
        if (!entry.caliber_id.empty()) newest[entry.case_id] = entry.caliber_id;
    }
    std::erase_if(
        cases, [&](const IndexedCase& entry) { return entry.caliber_id != newest[entry.case_id]; });
    return cases;
}

}  // namespace opgauge
