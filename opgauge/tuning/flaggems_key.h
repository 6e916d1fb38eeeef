// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// FlagGems keeps each part of a key in a column of its own, up to this many; longer keys as one
// text and its digest.
constexpr std::size_t kFlagGemsKeyColumns = 64;

// str(value) of Python, for numbers, booleans, texts and None.
std::string python_text(const Json& value);

// {"key_hash", "key_blob"} of a key, whatever its length.
Json hashed_form(const Json& key);
// The same, or nullopt where FlagGems would not hash this key.
std::optional<Json> hashed_key(const Json& key);

// The parts that FlagGems puts into the name of a table.
struct FlagGemsTableName {
    std::string kernel;
    std::string source_hash;  // the compiler's, in names of timings; else empty
    std::string space;        // the whole name without the digest of its columns
};
FlagGemsTableName split_table_name(std::string_view name);

}  // namespace opgauge
