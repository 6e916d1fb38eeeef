// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/flaggems_key.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace opgauge {
namespace {

// As Python's repr: the shortest digits that give the number again; an exponent below 1e-4 and
// from 1e16 on.
std::string python_float(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    const double size = std::abs(value);
    const bool fixed = value == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                      fixed ? std::chars_format::fixed : std::chars_format::scientific);
    std::string text(buffer.data(), end.ptr);
    if (fixed && text.find('.') == std::string::npos) text += ".0";
    return text;
}

std::size_t hex_digits(std::string_view text) {
    const auto end = text.find_first_not_of("0123456789abcdef");
    return end == std::string_view::npos ? text.size() : end;
}

// A digest of 32 or 64 hex digits as a word of its own; some compilers add a line number to theirs.
bool is_digest(std::string_view word) {
    return hex_digits(word) == word.size() && (word.size() == 32 || word.size() >= 64);
}

}  // namespace

std::string python_text(const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
    if (value.is_null()) return "None";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return python_float(value.get<double>());
    return to_line(value);
}

Json hashed_form(const Json& key) {
    std::vector<std::string> parts;
    for (const auto& part : key) parts.push_back(python_text(part));
    const std::string blob = join(parts, "_");
    return {{"key_hash", sha256_hex(blob)}, {"key_blob", blob}};
}

std::optional<Json> hashed_key(const Json& key) {
    if (!key.is_array() || key.size() <= kFlagGemsKeyColumns) return std::nullopt;
    return hashed_form(key);
}

FlagGemsTableName split_table_name(std::string_view name) {
    FlagGemsTableName parts;
    parts.space = name.substr(0, name.rfind('-'));
    const std::string_view space = parts.space;
    parts.kernel = space;
    for (std::size_t at = space.find('_'); at != std::string_view::npos;
         at = space.find('_', at + 1)) {
        const auto word = space.substr(at + 1, space.find('_', at + 1) - at - 1);
        if (at == 0 || !is_digest(word)) continue;
        parts.kernel = space.substr(0, at);
        if (word.size() >= 64) parts.source_hash = word;
        break;
    }
    return parts;
}

}  // namespace opgauge
