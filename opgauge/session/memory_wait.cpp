// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/memory_wait.h"

#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <poll.h>

#include <ctime>

namespace opgauge {
namespace {

// A driver keeps a little for itself from the first process on.
constexpr double kNearly = 0.95;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

// An interrupt ends the pause.
void pause_for(std::chrono::milliseconds interval) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(interval);
    const timespec timeout{seconds.count(), std::chrono::nanoseconds(interval - seconds).count()};
    ::ppoll(nullptr, 0, &timeout, &SignalGuard::wait_mask());
}

}  // namespace

std::optional<std::string> wait_for_memory(DeviceWatch& watch, const MemoryWait& wait) {
    const auto before = watch.free_memory_before();
    if (!before) return std::nullopt;
    const int signals = SignalGuard::count();
    std::optional<std::uint64_t> now;
    for (int poll = 0; poll < wait.polls; ++poll) {
        now = watch.free_memory();
        if (!now || static_cast<double>(*now) >= kNearly * static_cast<double>(*before)) {
            return std::nullopt;
        }
        if (SignalGuard::count() > signals) break;
        pause_for(wait.interval);
    }
    return fmt::format(
        "the device's memory has not come back after {:.0f} s: {:.2f} GiB free, {:.2f} GiB "
        "before the run; going on all the same",
        std::chrono::duration<double>(wait.interval * wait.polls).count(),
        static_cast<double>(now.value_or(0)) / kGibibyte, static_cast<double>(*before) / kGibibyte);
}

}  // namespace opgauge
