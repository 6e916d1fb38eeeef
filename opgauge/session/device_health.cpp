// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/device_health.h"

#include "opgauge/base/text.h"
#include "opgauge/run/signals.h"
#include "opgauge/session/own_processes.h"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

// The driver's own bookkeeping moves by some MiB.
constexpr std::uint64_t kMemoryNoise = std::uint64_t{64} << 20U;
constexpr std::chrono::milliseconds kTick{50};
constexpr std::array<std::string_view, 4> kHeat = {"hw_slowdown", "sw_thermal", "hw_thermal",
                                                   "hw_power_brake"};

bool is_heat(const std::string& reason) {
    for (const auto known : kHeat) {
        if (reason == known) return true;
    }
    return false;
}

// False: a signal came.
bool pause() {
    const timespec time{0, std::chrono::nanoseconds(kTick).count()};
    ::ppoll(nullptr, 0, &time, &SignalGuard::wait_mask());
    return SignalGuard::count() == 0;
}

double mebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / (1U << 20U);
}

}  // namespace

Json to_json(const HealthReport& report) {
    Json json = {{"ok", optional_json(report.ok)},
                 {"problems", report.problems},
                 {"warnings", report.warnings}};
    if (!report.ok) json["unknown"] = report.unknown;
    return json;
}

DeviceHealth::DeviceHealth(Result<std::unique_ptr<Telemetry>> telemetry, const Clock& clock,
                           std::chrono::milliseconds settle, int lanes)
    : telemetry_(std::move(telemetry)), clock_(clock), settle_(settle), lanes_(lanes) {}

void DeviceHealth::note_before() {
    if (!telemetry_) return;
    // The hidden backend hands out the health of its last reading.
    static_cast<void>((*telemetry_)->read());
    const auto health = (*telemetry_)->health();
    before_ = health ? std::optional(*health) : std::nullopt;
}

HealthReport DeviceHealth::look() {
    HealthReport report;
    if (!telemetry_) {
        report.unknown = telemetry_.error().message;
        // A backend without telemetry says nothing; a device that cannot be opened is lost.
        if (telemetry_.error().kind == ErrorKind::refused) return report;
        report.ok = false;
        report.problems.push_back(report.unknown);
        return report;
    }
    look_at_reading(report);
    if (report.problems.empty()) {
        const auto health = settled_health();
        if (health) {
            look_at_memory(*health, report);
        } else if (health.error().kind != ErrorKind::refused) {
            report.problems.push_back(health.error().message);
        }
        look_at_processes(report);
    }
    report.ok = report.problems.empty();
    return report;
}

void DeviceHealth::look_at_reading(HealthReport& report) {
    const auto reading = (*telemetry_)->read();
    if (!reading) {
        report.problems.push_back(reading.error().message);
        return;
    }
    for (const auto& reason : reading->throttle_reasons) {
        if (!is_heat(reason)) continue;
        const std::string heat =
            reading->temperature_celsius
                ? fmt::format(" at {:.0f} degrees Celsius", *reading->temperature_celsius)
                : "";
        report.warnings.push_back(
            fmt::format("its clocks are held down by {}{}; let it cool", reason, heat));
    }
}

void DeviceHealth::look_at_memory(const HealthReading& now, HealthReport& report) {
    const HealthReading before = before_.value_or(HealthReading{});
    if (now.uncorrected_errors.value_or(0) > before.uncorrected_errors.value_or(0) &&
        before.uncorrected_errors) {
        report.problems.push_back(
            fmt::format("{} uncorrected memory errors came while the operator ran; reset the "
                        "device or have it replaced",
                        *now.uncorrected_errors - *before.uncorrected_errors));
    }
    if (now.repair_failed.value_or(false)) {
        report.problems.emplace_back(
            "its memory has errors that cannot be repaired any more; have it replaced");
    }
    if (now.repair_pending.value_or(false)) {
        report.warnings.emplace_back("a repair of its memory waits for a reset of the device");
    }
    if (!returned(now)) {
        report.warnings.push_back(
            fmt::format("{:.0f} MiB of its memory were not given back after the operator ended",
                        mebibytes(*now.memory_used_bytes - *before.memory_used_bytes)));
    }
}

bool DeviceHealth::returned(const HealthReading& health) const {
    return lanes_ > 1 || !before_ || !before_->memory_used_bytes || !health.memory_used_bytes ||
           *health.memory_used_bytes <= *before_->memory_used_bytes + kMemoryNoise;
}

// A driver may take a while to clear up behind a process that was killed.
Result<HealthReading> DeviceHealth::settled_health() {
    const auto until = clock_.now() + settle_;
    while (true) {
        auto health = (*telemetry_)->health();
        if (!health || returned(*health) || clock_.now() >= until || !pause()) return health;
        if (const auto reading = (*telemetry_)->read(); !reading) {
            return tl::unexpected<Error>(reading.error());
        }
    }
}

void DeviceHealth::look_at_processes(HealthReport& report) {
    auto processes = (*telemetry_)->processes();
    if (!processes) return;
    const OwnProcesses own{lanes_ > 1 ? ::getppid() : ::getpid(), lanes_ > 1 ? lanes_ : 0, {}};
    for (const auto& process : strangers(std::move(*processes), own)) {
        report.warnings.push_back(
            fmt::format("process {} ({}) uses it too", process.pid,
                        process.name.empty() ? "name unknown" : printable(process.name)));
    }
}

}  // namespace opgauge
