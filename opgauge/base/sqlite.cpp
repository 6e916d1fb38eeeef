// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/sqlite.h"

#include "opgauge/base/text.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <sqlite3.h>
#include <stdlib.h>

#include <cstdint>
#include <fstream>

namespace opgauge {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;

struct Header {
    std::uint64_t page_bytes = 0;
    std::uint64_t pages = 0;
    bool write_ahead = false;
};

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
    return value;
}

tl::unexpected<Error> refuse(const std::filesystem::path& path, std::string_view why) {
    return fail(ErrorKind::usage, fmt::format("cannot read {}: {}", path.string(), why));
}

// The layout of the header is fixed: https://www.sqlite.org/fileformat.html#the_database_header.
Result<Header> read_header(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return refuse(path, "there is no such file");
    if (!std::filesystem::is_regular_file(path, error)) return refuse(path, "it is not a file");
    const auto bytes = std::filesystem::file_size(path, error);
    if (bytes == 0) return refuse(path, "it is empty (0 bytes), so nothing was ever stored in it");
    std::ifstream file(path, std::ios::binary);
    std::string text(kHeaderBytes, '\0');
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) ||
        !std::string_view(text).starts_with(kMagic)) {
        return refuse(path, file ? "it is not an sqlite database"
                                 : "it is too short for an sqlite database, or unreadable");
    }
    const std::string_view header = text;
    Header found;
    found.page_bytes = big_endian(header.substr(16, 2));
    if (found.page_bytes == 1) found.page_bytes = 65536;
    // The page count is only kept by writers that also keep the two counters equal.
    if (header.substr(24, 4) == header.substr(92, 4))
        found.pages = big_endian(header.substr(28, 4));
    found.write_ahead = header[18] == 2 || header[19] == 2;
    const auto wanted = found.page_bytes * found.pages;
    // A killed writer may have written the header before the last pages: its journal repairs that.
    const auto journal = std::filesystem::file_size(path.string() + "-journal", error);
    const bool repairable = !error && journal > 0;
    if (bytes < wanted && !repairable) {
        return refuse(path, fmt::format("it was cut: {} of {} bytes are there", bytes, wanted));
    }
    return found;
}

void distrust(SQLite::Database& database) {
    sqlite3* handle = database.getHandle();
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_extended_result_codes(handle, 1);
}

using Opened = std::unique_ptr<SQLite::Database>;

Opened open_file(const std::filesystem::path& path, int flags, std::chrono::milliseconds wait) {
    auto database =
        std::make_unique<SQLite::Database>(path.string(), flags, static_cast<int>(wait.count()));
    distrust(*database);
    database->exec("PRAGMA cell_size_check = ON");
    return database;
}

// The copy's name is gone as soon as it is open; its pages live until the connection ends.
Result<Opened> open_private_copy(const std::filesystem::path& path) {
    std::string folder = (std::filesystem::temp_directory_path() / "opgauge-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot create a folder in {} to repair a copy of {}",
                                std::filesystem::temp_directory_path().string(), path.string()));
    }
    std::error_code error;
    const auto copy = std::filesystem::path(folder) / "copy.db";
    for (const char* suffix : {"", "-journal", "-wal"}) {
        std::filesystem::copy_file(path.string() + suffix, copy.string() + suffix, error);
    }
    auto file = SQLite::Database(copy.string(), SQLite::OPEN_READWRITE);
    file.exec("PRAGMA journal_mode = DELETE");
    auto memory = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE);
    const bool loaded = [&] {
        sqlite3_backup* backup =
            sqlite3_backup_init(memory->getHandle(), "main", file.getHandle(), "main");
        if (backup == nullptr) return false;
        sqlite3_backup_step(backup, -1);
        return sqlite3_backup_finish(backup) == SQLITE_OK;
    }();
    std::filesystem::remove_all(folder, error);
    if (!loaded) return refuse(path, "a killed writer left it half written, and it is damaged");
    distrust(*memory);
    return memory;
}

Result<Opened> open_for_reading(const std::filesystem::path& path, const Header& header,
                                std::chrono::milliseconds wait) {
    // Reading a write-ahead database would create files beside it.
    if (header.write_ahead) return open_private_copy(path);
    auto database = open_file(path, SQLite::OPEN_READONLY, wait);
    try {
        database->execAndGet("SELECT count(*) FROM sqlite_master");
    } catch (const SQLite::Exception& error) {
        if (error.getExtendedErrorCode() != SQLITE_READONLY_ROLLBACK &&
            error.getExtendedErrorCode() != SQLITE_READONLY_CANTINIT) {
            throw;
        }
        return open_private_copy(path);
    }
    return database;
}

Error named_error(std::string_view tried, std::string_view file, const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        return {ErrorKind::environment,
                fmt::format("cannot {} {}: it is locked (store_locked): another process is writing "
                            "it; try again when that has ended",
                            tried, file)};
    }
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
        return {ErrorKind::usage, fmt::format("cannot {} {}: the database is damaged: {}", tried,
                                              file, printable(error.what()))};
    }
    return {ErrorKind::environment,
            fmt::format("cannot {} {}: {}", tried, file, printable(error.what()))};
}

}  // namespace

Result<Opened> open_database(const std::filesystem::path& path, DatabaseAccess access,
                             std::chrono::milliseconds wait) {
    try {
        if (access == DatabaseAccess::create) {
            return open_file(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, wait);
        }
        OPGAUGE_TRY_ASSIGN(const Header header, read_header(path));
        if (access == DatabaseAccess::read) return open_for_reading(path, header, wait);
        auto database = open_file(path, SQLite::OPEN_READWRITE, wait);
        database->execAndGet("SELECT count(*) FROM sqlite_master");
        return database;
    } catch (const SQLite::Exception& error) {
        return tl::unexpected<Error>(named_error("open", path.string(), error));
    }
}

Result<void> check_pages(SQLite::Database& database) {
    return with_sqlite("check", database, [&]() -> Result<void> {
        const std::string verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
        if (verdict == "ok") return {};
        return fail(ErrorKind::usage, fmt::format("cannot read {}: the database is damaged: {}",
                                                  database.getFilename(), printable(verdict)));
    });
}

Error sqlite_error(std::string_view tried, const SQLite::Database& database,
                   const SQLite::Exception& error) {
    return named_error(tried, database.getFilename(), error);
}

std::string quoted_identifier(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"') text.push_back('"');
        text.push_back(c);
    }
    return text + "\"";
}

}  // namespace opgauge
