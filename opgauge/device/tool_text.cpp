// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/tool_text.h"

#include "opgauge/base/text.h"

#include <algorithm>
#include <cctype>

namespace opgauge {
namespace {

constexpr unsigned long long kHighestIndex = 1U << 20U;
constexpr double kMostMib = 1e12;  // an exabyte: beyond it the text is no memory's size
constexpr unsigned long long kLongestDeadline = 3600;

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

Device numbered_device(std::string_view backend, int index) {
    Device device;
    device.backend = backend;
    device.index = index;
    device.token = std::to_string(index);
    device.name = "unknown";
    device.health = Health::ok;
    return device;
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

std::optional<int> small_index(std::string_view text) {
    const auto index = parse_unsigned(trim(text));
    if (!index || *index > kHighestIndex) return std::nullopt;
    return static_cast<int>(*index);
}

std::optional<std::uint64_t> bytes_of_mib(std::optional<double> mib) {
    if (!mib || !(*mib >= 0) || *mib > kMostMib) return std::nullopt;
    return static_cast<std::uint64_t>(*mib * static_cast<double>(kMebibyte));
}

void set_memory_mib(Device& device, std::optional<double> total, std::optional<double> used) {
    const auto total_bytes = bytes_of_mib(total);
    if (!total_bytes || *total_bytes == 0) return;
    device.memory_total_bytes = total_bytes;
    device.memory_used_bytes = bytes_of_mib(used);
    device.memory_free_bytes.reset();
    if (!device.memory_used_bytes) return;
    device.memory_free_bytes = *total_bytes - std::min(*total_bytes, *device.memory_used_bytes);
}

std::chrono::milliseconds tool_deadline(const Environment& environment,
                                        std::chrono::milliseconds usual) {
    const auto seconds = parse_unsigned(environment.get("OPGAUGE_TOOL_DEADLINE").value_or(""));
    if (!seconds || *seconds == 0 || *seconds > kLongestDeadline) return usual;
    return std::chrono::seconds(*seconds);
}

}  // namespace opgauge
