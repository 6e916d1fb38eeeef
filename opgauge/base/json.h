// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// Keys keep the order in which they are written, so that files read well and goldens are stable.
using Json = nlohmann::ordered_json;

// Parses one JSON document. `what` names it in the error ("line 3 of rows.jsonl").
Result<Json> parse_json(std::string_view text, std::string_view what);

// One line, UTF-8. Bytes that are not UTF-8 are replaced; NaN and infinity become null.
std::string to_line(const Json& value);

// Indented by two, with a newline at its end.
std::string to_text(const Json& value);

Result<Json> read_json_file(const std::filesystem::path& path);

// The member as T, or nullopt where it is absent, null or of another type. Never throws.
template <typename T>
std::optional<T> get_optional(const Json& object, std::string_view key) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(std::string(key));
    if (found == object.end() || found->is_null()) return std::nullopt;
    try {
        return found->get<T>();
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
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
