// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/device/device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// Small readers that several vendors' tool outputs share.

constexpr std::uint64_t kMebibyte = std::uint64_t{1024} * 1024;

// The number that a text begins with ("81920MiB", "27C", "0 / 65536" -> 0); nullopt for "N/A", "-".
std::optional<double> leading_number(std::string_view text);

// "1339MiB(16384MiB)" or "3410 / 65536": used and total in MiB; a total of 0 means "no such
// memory".
struct UsedTotal {
    double used = 0;
    double total = 0;
};
std::optional<UsedTotal> used_and_total(std::string_view text);

void set_memory_mib(Device& device, std::optional<double> total, std::optional<double> used);

}  // namespace opgauge
