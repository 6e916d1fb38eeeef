// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace opgauge {

// Keys keep the order in which they are written, so that files read well and goldens are stable.
using Json = nlohmann::ordered_json;

// Copying and printing a document recurse, so a foreign one that nests deeper than this is refused
// before it is parsed: a line of a million '[' must not use up the stack.
constexpr int kDeepestNesting = 200;
bool nests_too_deep(std::string_view text);

// Parses one JSON document. `what` names it in the error ("line 3 of rows.jsonl").
Result<Json> parse_json(std::string_view text, std::string_view what);

// One line, UTF-8. Bytes that are not UTF-8 are replaced; NaN and infinity become null.
std::string to_line(const Json& value);

// Indented by two, with a newline at its end.
std::string to_text(const Json& value);

Result<Json> read_json_file(const std::filesystem::path& path);

// A whole number that fits T, or nullopt: never a truncated, wrapped or rounded one.
template <typename T>
std::optional<T> integer_in(const Json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<Json::number_unsigned_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    if (value.is_number_integer()) {
        const auto number = value.get<Json::number_integer_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    if (!value.is_number_float()) return std::nullopt;
    // Some writers print 3 as 3.0. Beyond 2^53 a double no longer says which integer was meant.
    const double number = value.get<double>();
    if (!(std::abs(number) <= 9007199254740992.0) || number != std::floor(number)) {
        return std::nullopt;
    }
    return integer_in<T>(Json(static_cast<Json::number_integer_t>(number)));
}

// The member as T, or nullopt where it is absent, null or of another type. Never throws.
template <typename T>
std::optional<T> get_optional(const Json& object, std::string_view key) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(std::string(key));
    if (found == object.end() || found->is_null()) return std::nullopt;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return integer_in<T>(*found);
    } else {
        try {
            return found->get<T>();
        } catch (const nlohmann::json::exception&) {
            return std::nullopt;
        }
    }
}

inline std::string get_string(const Json& object, std::string_view key,
                              std::string_view otherwise = "") {
    return get_optional<std::string>(object, key).value_or(std::string(otherwise));
}

// nullopt becomes null.
template <typename T>
Json optional_json(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace opgauge
