// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/visibility.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace opgauge {
namespace {

bool is_id(std::string_view token, const MaskRules& rules) {
    return std::any_of(
        rules.id_prefixes.begin(), rules.id_prefixes.end(), [&](std::string_view prefix) {
            return token.size() > prefix.size() && starts_with_ignoring_case(token, prefix);
        });
}

bool is_index(std::string_view token, const MaskRules& rules) {
    const auto index = token_index(token);
    if (!index) return false;
    return rules.numbers == MaskRules::Numbers::lenient || std::to_string(*index) == token;
}

// What people write to hide every device: no mistake that needs a word.
bool hides_on_purpose(std::string_view value) {
    const std::string text = lower(trim(value));
    return text.empty() || text == "-1" || text == "none";
}

Result<void> check_order(const CallerMask& mask, const MaskRules& rules, std::string_view value) {
    if (rules.order == MaskRules::Order::any) return {};
    for (std::size_t i = 1; i < mask.tokens.size(); ++i) {
        if (token_index(mask.tokens[i - 1]) < token_index(mask.tokens[i])) continue;
        return fail(
            ErrorKind::usage,
            fmt::format("{}={} does not ascend, and then the runtime shows no device; sort it",
                        mask.variable, printable(value)));
    }
    return {};
}

}  // namespace

std::optional<int> token_index(std::string_view token) {
    token = trim(token);
    int base = 10;
    if (token.starts_with("0x") || token.starts_with("0X")) {
        token.remove_prefix(2);
        base = 16;
    }
    int value = 0;
    const auto [end, error] =
        std::from_chars(token.data(), token.data() + token.size(), value, base);
    if (error != std::errc{} || end != token.data() + token.size() || value < 0)
        return std::nullopt;
    return value;
}

Result<CallerMask> read_mask(std::string_view variable, std::string_view value,
                             const MaskRules& rules) {
    CallerMask mask;
    mask.variable = variable;
    for (const auto& raw : split(value, ',')) {
        const bool lenient = rules.numbers == MaskRules::Numbers::lenient;
        const std::string token(lenient ? trim(raw) : std::string_view(raw));
        if (!is_id(token, rules) && !is_index(token, rules)) {
            if (hides_on_purpose(value)) break;
            mask.notes.push_back(fmt::format("{}={} ends at '{}': the runtime reads no further",
                                             variable, printable(value), printable(raw)));
            break;
        }
        const auto same = [&](const std::string& other) {
            const auto a = token_index(token);
            return a ? a == token_index(other) : lower(token) == lower(other);
        };
        if (std::any_of(mask.tokens.begin(), mask.tokens.end(), same)) {
            return fail(ErrorKind::usage,
                        fmt::format("{}={} names {} twice, and then the runtime shows no device; "
                                    "name each device once",
                                    variable, printable(value), printable(token)));
        }
        mask.tokens.push_back(token);
    }
    mask.hides_all = mask.tokens.empty();
    OPGAUGE_TRY(check_order(mask, rules, value));
    return mask;
}

}  // namespace opgauge
