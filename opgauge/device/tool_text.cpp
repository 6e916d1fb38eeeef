// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/tool_text.h"

#include "opgauge/base/text.h"

#include <algorithm>
#include <cctype>

namespace opgauge {
namespace {

bool is_number_char(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

std::size_t number_length(std::string_view text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_number_char);
    return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::optional<double> leading_number(std::string_view text) {
    text = trim(text);
    return parse_double(text.substr(0, number_length(text)));
}

std::optional<UsedTotal> used_and_total(std::string_view text) {
    text = trim(text);
    const auto used = leading_number(text);
    const auto split_at = text.find_first_of("/(");
    if (!used || split_at == std::string_view::npos) return std::nullopt;
    const auto total = leading_number(text.substr(split_at + 1));
    if (!total) return std::nullopt;
    return UsedTotal{*used, *total};
}

void set_memory_mib(Device& device, std::optional<double> total, std::optional<double> used) {
    if (!total || *total <= 0) return;
    device.memory_total_bytes = static_cast<std::uint64_t>(*total) * kMebibyte;
    if (!used) return;
    device.memory_used_bytes = static_cast<std::uint64_t>(*used) * kMebibyte;
    device.memory_free_bytes = *device.memory_total_bytes -
                               std::min(*device.memory_total_bytes, *device.memory_used_bytes);
}

}  // namespace opgauge
