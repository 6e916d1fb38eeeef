// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/device_watch.h"

#include "opgauge/measure/statistics.h"
#include "opgauge/session/own_processes.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace opgauge {
namespace {

// A reason stays set for a while after the clock has recovered: without a lower clock it says
// nothing. Two steps of an H200's clock are 30 of 1980 MHz.
constexpr double kFullSpeed = 0.98;
constexpr double kCoolDownSeconds = 0.2;
constexpr int kCoolDownsPerSide = 3;
// After so many that changed nothing the card is taken as it is, for the rest of the run.
constexpr int kVainCoolDowns = 3;
constexpr std::chrono::milliseconds kSustained{1'000};

}  // namespace

DeviceWatch::DeviceWatch(std::unique_ptr<Telemetry> telemetry, Heat heat, const Clock& clock,
                         int lanes)
    : telemetry_(std::move(telemetry)), heat_(heat), clock_(clock), lanes_(lanes) {}

void DeviceWatch::note_neighbours() {
    if (!telemetry_) return;
    free_memory_before_ = telemetry_->free_memory();
    const auto processes = telemetry_->processes();
    if (!processes) return;
    for (const auto& process : *processes) neighbours_.push_back(process.pid);
}

std::optional<std::uint64_t> DeviceWatch::free_memory() {
    return telemetry_ ? telemetry_->free_memory() : std::nullopt;
}

void DeviceWatch::begin_side() {
    cool_downs_of_side_ = 0;
    cooled_ = false;
    throttled_.clear();
    side_begin_ = clock_.now();
}

void DeviceWatch::begin_burst() {
    seen_ = Burst{};
    clocks_.clear();
    in_burst_ = true;
}

void DeviceWatch::tick() {
    if (!in_burst_ || !telemetry_) return;
    // A reading that fails leaves its facts unknown; a lost device shows in the child.
    if (const auto reading = telemetry_->read()) add(*reading);
}

void DeviceWatch::add(const DeviceReading& reading) {
    if (reading.max_sm_clock_mhz) full_clock_mhz_ = reading.max_sm_clock_mhz;
    if (reading.sm_clock_mhz) {
        clocks_.push_back(*reading.sm_clock_mhz);
        if (!reading.max_sm_clock_mhz) {
            full_clock_mhz_ = std::max(full_clock_mhz_.value_or(0), *reading.sm_clock_mhz);
        }
    }
    if (reading.temperature_celsius) seen_.temperature_celsius = reading.temperature_celsius;
    if (reading.power_watts) {
        seen_.power_watts = std::max(seen_.power_watts.value_or(0), *reading.power_watts);
    }
    for (const auto& reason : reading.throttle_reasons) {
        auto& known = seen_.throttle_reasons;
        if (std::find(known.begin(), known.end(), reason) == known.end()) known.push_back(reason);
    }
}

bool DeviceWatch::slowed_down(const Burst& burst) const {
    return !burst.throttle_reasons.empty() && burst.sm_clock_mhz && full_clock_mhz_ &&
           *burst.sm_clock_mhz < kFullSpeed * *full_clock_mhz_;
}

BurstVerdict DeviceWatch::end_burst(Burst& burst) {
    if (!in_burst_) return {};
    if (clocks_.empty()) tick();  // at least one reading, however short the burst was
    in_burst_ = false;
    if (const auto clocks = summarize(clocks_)) seen_.sm_clock_mhz = clocks->median;
    seen_.samples = burst.samples;
    burst = seen_;
    if (heat_ == Heat::sustained) return {clock_.now() - side_begin_ >= kSustained, 0};
    const bool slow = slowed_down(burst);
    if (cooled_) vain_cool_downs_ = slow ? vain_cool_downs_ + 1 : 0;
    cooled_ = false;
    if (!slow) return {};
    if (cool_downs_of_side_ < kCoolDownsPerSide && vain_cool_downs_ < kVainCoolDowns) {
        ++cool_downs_of_side_;
        cooled_ = true;
        return {false, kCoolDownSeconds};
    }
    for (const auto& reason : burst.throttle_reasons) {
        const auto known = std::find_if(throttled_.begin(), throttled_.end(),
                                        [&](const auto& t) { return t.starts_with(reason); });
        if (known == throttled_.end()) {
            throttled_.push_back(fmt::format("{}@{:.0f}MHz", reason, *burst.sm_clock_mhz));
        }
    }
    return {};
}

std::optional<std::vector<DeviceProcess>> DeviceWatch::others(long long child) {
    if (!telemetry_) return std::nullopt;
    auto processes = telemetry_->processes();
    if (!processes) return std::nullopt;
    const bool alone = lanes_ == 1;
    return strangers(std::move(*processes), {alone ? child : ::getppid(), lanes_,
                                             alone ? neighbours_ : std::vector<long long>()});
}

}  // namespace opgauge
