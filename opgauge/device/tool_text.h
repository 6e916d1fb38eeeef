// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/device/device.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// Small readers that several vendors' tool outputs share.

constexpr std::uint64_t kMebibyte = std::uint64_t{1024} * 1024;

// The number that a text begins with ("81920MiB", "27C", "0 / 65536" -> 0); nullopt for "N/A", "-".
std::optional<double> leading_number(std::string_view text);

// A device's number as a tool prints it, or nullopt where it is none that a machine can have.
std::optional<int> small_index(std::string_view text);

// A device of which only the number is known yet, which is also its token; without more it counts
// as healthy.
Device numbered_device(std::string_view backend, int index);

// "1339MiB(16384MiB)" or "3410 / 65536": used and total in MiB; a total of 0 means "no such
// memory".
struct UsedTotal {
    double used = 0;
    double total = 0;
};
std::optional<UsedTotal> used_and_total(std::string_view text);

// An amount in MiB as bytes; nullopt where it is unknown, negative or no memory's size.
std::optional<std::uint64_t> bytes_of_mib(std::optional<double> mib);

// Sets total, used and free; a total that is unknown or 0 leaves all three unknown.
void set_memory_mib(Device& device, std::optional<double> total, std::optional<double> used);

// `usual`, or OPGAUGE_TOOL_DEADLINE (whole seconds) where it is set.
std::chrono::milliseconds tool_deadline(const Environment& environment,
                                        std::chrono::milliseconds usual);

}  // namespace opgauge
