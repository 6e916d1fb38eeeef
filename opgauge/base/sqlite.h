// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace opgauge {

enum class DatabaseAccess { read, write, create };

// How long a database that another process is writing is waited for.
constexpr std::chrono::milliseconds kDatabaseWait{5000};

// Opens a database file and refuses by name what is not one: absent, empty (0 bytes is a database
// to sqlite), other content, cut short, locked for longer than `wait`. Foreign files are never
// trusted: their triggers and views do not run. One opened for reading is not changed, not even
// where a killed writer left its journal: then a private copy is repaired and read.
Result<std::unique_ptr<SQLite::Database>> open_database(const std::filesystem::path& path,
                                                        DatabaseAccess access,
                                                        std::chrono::milliseconds wait);

// A full look for damage; time grows with the file.
Result<void> check_pages(SQLite::Database& database);

Error sqlite_error(std::string_view tried, const SQLite::Database& database,
                   const SQLite::Exception& error);

// "name", with quotes in it doubled: a name is data, whatever it holds.
std::string quoted_identifier(std::string_view name);

// Runs `work`, whose result is a Result; sqlite's exceptions become an error that says what was
// tried on which file.
template <typename Work>
auto with_sqlite(std::string_view tried, const SQLite::Database& database, Work&& work)
    -> std::invoke_result_t<Work> {
    try {
        return work();
    } catch (const SQLite::Exception& error) {
        return tl::unexpected<Error>(sqlite_error(tried, database, error));
    }
}

}  // namespace opgauge
