// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

namespace opgauge {
namespace {

char lower_char(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Levenshtein distance with two rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted =
                diagonal + (lower_char(a[i - 1]) == lower_char(b[j - 1]) ? 0U : 1U);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

// Bytes of the UTF-8 character at the start of `text`; 0 where there is none (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    if (first < 0x80U) return text.empty() ? 0 : 1;
    if (first < 0xC2U || first > 0xF4U || !continues(1)) return 0;
    if (first < 0xE0U) return 2;
    if ((first == 0xE0U && second < 0xA0U) || (first == 0xEDU && second > 0x9FU)) return 0;
    if ((first == 0xF0U && second < 0x90U) || (first == 0xF4U && second > 0x8FU)) return 0;
    if (!continues(2)) return 0;
    if (first < 0xF0U) return 3;
    return continues(3) ? 4 : 0;
}

// C0, DEL, and C1, which a terminal obeys as it does ESC sequences.
bool is_control(std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return first < 0x20U || first == 0x7fU;
    return first == 0xC2U && static_cast<unsigned char>(character[1]) < 0xA0U;
}

}  // namespace

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n\f\v";
    const auto first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (true) {
        const auto end = text.find(separator, start);
        parts.emplace_back(text.substr(start, end - start));
        if (end == std::string_view::npos) return parts;
        start = end + 1;
    }
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        lines.push_back(line);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower_char);
    return result;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() && lower(text.substr(0, prefix.size())) == lower(prefix);
}

std::optional<unsigned long long> parse_unsigned(std::string_view text) {
    unsigned long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<double> parse_double(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known) {
    // Two letters that changed places are two edits; in a name of three letters that is anything.
    const std::size_t limit = name.size() < 4 ? 1 : std::max<std::size_t>(2, name.size() / 3);
    std::optional<std::string> best;
    std::size_t best_distance = limit + 1;
    for (const auto& candidate : known) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
    const auto found = nearest(name, known);
    return found ? fmt::format("; did you mean '{}'?", *found) : std::string();
}

std::string printable(std::string_view text, std::size_t limit) {
    std::string result;
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t length = utf8_length(text.substr(i));
        const std::size_t step = std::max<std::size_t>(length, 1);
        if (i + step > limit) break;
        if (length == 0 || is_control(text.substr(i, length))) {
            for (const char c : text.substr(i, step)) {
                result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
            }
        } else {
            result += text.substr(i, length);
        }
        i += step;
    }
    if (i < text.size()) result += "...";
    return result;
}

}  // namespace opgauge
