// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

std::string_view trim(std::string_view text);
// Keeps empty fields: split("a,,b", ',') has three.
std::vector<std::string> split(std::string_view text, char separator);
// By '\n'; a '\r' before it goes too; no empty last line.
std::vector<std::string_view> lines_of(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string lower(std::string_view text);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);

// A whole decimal number without sign, or nullopt. No blanks, no trailing text.
std::optional<unsigned long long> parse_unsigned(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// "1 run", "2 runs".
std::string counted(std::size_t count, std::string_view noun);

// The known name nearest to `name` by edit distance, if one is near enough to be a slip of the
// hand.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known);
// "; did you mean 'softmax'?" or "".
std::string suggestion(std::string_view name, std::span<const std::string> known);

// Makes foreign text safe to print on one line: control characters (tabs and newlines too) and
// bytes that are not UTF-8 become \xNN. Cut after `limit` bytes of `text`, at a character's border.
std::string printable(std::string_view text, std::size_t limit = 400);

}  // namespace opgauge
