// SPDX-License-Identifier: Apache-2.0
// What NVML tells of one device at one moment.
#include "opgauge/device/cuda_library.h"
#include "opgauge/device/nvml.h"
#include "opgauge/device/vendor_call.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace opgauge {
namespace {

// nvmlClockType_t, nvmlTemperatureSensors_t, nvmlPerfPolicyType_t. On an H200 each policy takes 1
// ms and the rest of a reading 10 us once warm, so only policies that a run can suffer from are
// asked.
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kGpuSensor = 0;
// nvmlMemoryErrorType_t, nvmlEccCounterType_t (since the driver started).
constexpr int kUncorrected = 1;
constexpr int kVolatile = 0;
constexpr std::array<std::pair<int, std::optional<std::uint64_t> ViolationCounters::*>, 4>
    kPolicies = {{{0, &ViolationCounters::power_ns},
                  {1, &ViolationCounters::thermal_ns},
                  {3, &ViolationCounters::board_limit_ns},
                  {5, &ViolationCounters::reliability_ns}}};

// nvmlClocksEventReasons. Not among them: idle (0x1), clocks that were set (0x2), display (0x100).
constexpr std::array<std::pair<unsigned long long, const char*>, 6> kReasons = {
    {{0x4, "sw_power_cap"},
     {0x8, "hw_slowdown"},
     {0x10, "sync_boost"},
     {0x20, "sw_thermal"},
     {0x40, "hw_thermal"},
     {0x80, "hw_power_brake"}}};

class OneReading {
  public:
    OneReading(const Nvml& nvml, const NvmlHandles& handles) : nvml_(nvml), handles_(handles) {}

    DeviceReading read() {
        DeviceReading reading;
        reading.sm_clock_mhz = number(nvml_.clock, kSmClock);
        reading.memory_clock_mhz = number(nvml_.clock, kMemoryClock);
        reading.temperature_celsius = number(nvml_.temperature, kGpuSensor);
        unsigned milliwatts = 0;
        if (ask(nvml_.power, &milliwatts)) reading.power_watts = milliwatts / 1000.0;
        add_reasons(reading);
        return reading;
    }

    std::optional<ViolationCounters> violations() {
        ViolationCounters counters;
        bool any = false;
        for (const auto& [policy, member] : kPolicies) {
            NvmlViolation violation{};
            if (!ask(nvml_.violation, policy, &violation)) continue;
            counters.*member = violation.violation_ns;
            any = true;
        }
        return any ? std::optional(counters) : std::nullopt;
    }

    std::optional<std::uint64_t> free_memory() {
        NvmlMemory memory{};
        return ask(nvml_.memory, &memory) ? std::optional<std::uint64_t>(memory.free)
                                          : std::nullopt;
    }

    HealthReading health() {
        HealthReading health;
        unsigned long long errors = 0;
        if (ask(nvml_.ecc_errors, kUncorrected, kVolatile, &errors)) {
            health.uncorrected_errors = errors;
        }
        add_repairs(health);
        NvmlMemory memory{};
        if (ask(nvml_.memory, &memory)) health.memory_used_bytes = memory.used;
        return health;
    }

    std::optional<double> max_sm_clock() { return number(nvml_.max_clock, kSmClock); }

    // Why the reading is worth nothing, if so.
    std::optional<NvmlReturn> failure() const { return fatal_ ? fatal_ : tally_.silence(); }

  private:
    // The device, then the GPU that a MIG instance is part of.
    template <typename F, typename... Arguments>
    bool ask(F* function, Arguments... arguments) {
        for (const NvmlDevice handle : {handles_.device, handles_.parent}) {
            if (handle == nullptr || fatal_) continue;
            if (tally_.call(function, handle, arguments...)) return true;
            if (nvml_is_fatal(tally_.last())) fatal_ = tally_.last();
        }
        return false;
    }
    std::optional<double> number(NvmlReturn (*function)(NvmlDevice, int, unsigned*), int kind) {
        unsigned value = 0;
        return ask(function, kind, &value) ? std::optional<double>(value) : std::nullopt;
    }
    // Rows are replaced by spare ones; older GPUs only retire pages.
    void add_repairs(HealthReading& health) {
        unsigned corrected = 0;
        unsigned uncorrected = 0;
        unsigned pending = 0;
        unsigned failed = 0;
        if (ask(nvml_.remapped_rows, &corrected, &uncorrected, &pending, &failed)) {
            health.repair_pending = pending != 0;
            health.repair_failed = failed != 0;
            return;
        }
        int retired_pending = 0;
        if (ask(nvml_.retired_pending, &retired_pending)) {
            health.repair_pending = retired_pending != 0;
        }
    }
    void add_reasons(DeviceReading& reading) {
        unsigned long long mask = 0;
        reading.throttle_reasons_known = ask(nvml_.clock_reasons, &mask);
        for (const auto& [bit, name] : kReasons) {
            if ((mask & bit) != 0) reading.throttle_reasons.emplace_back(name);
        }
    }

    const Nvml& nvml_;
    const NvmlHandles& handles_;
    CallTally tally_{kNvmlNotSupported};
    std::optional<NvmlReturn> fatal_;
};

class NvmlTelemetry final : public Telemetry {
  public:
    NvmlTelemetry(Nvml nvml, NvmlHandles handles, std::string token)
        : nvml_(std::move(nvml)), handles_(handles), token_(std::move(token)) {
        // It does not change and takes 1.5 ms each time.
        max_sm_clock_mhz_ = OneReading(nvml_, handles_).max_sm_clock();
    }

    Result<DeviceReading> read() override {
        OneReading one(nvml_, handles_);
        DeviceReading reading = one.read();
        if (const auto code = one.failure()) return failed(*code);
        reading.max_sm_clock_mhz = max_sm_clock_mhz_;
        return reading;
    }

    std::optional<ViolationCounters> violations() override {
        return OneReading(nvml_, handles_).violations();
    }

    std::optional<std::uint64_t> free_memory() override {
        return OneReading(nvml_, handles_).free_memory();
    }

    Result<HealthReading> health() override {
        OneReading one(nvml_, handles_);
        HealthReading health = one.health();
        if (const auto code = one.failure()) return failed(*code);
        return health;
    }

    Result<std::vector<DeviceProcess>> processes() override {
        std::vector<DeviceProcess> list;
        const NvmlReturn code = nvml_processes(nvml_, handles_.device, list);
        if (code == kNvmlNotSupported) {
            return fail(ErrorKind::refused, "NVML lists no processes of device " + token_);
        }
        if (code != kNvmlSuccess) return failed(code);
        return list;
    }

  private:
    tl::unexpected<Error> failed(NvmlReturn code) const {
        return fail(ErrorKind::environment,
                    fmt::format("NVML does not read device {}: {}; check it with `nvidia-smi`",
                                token_, nvml_.error(code)));
    }

    Nvml nvml_;
    NvmlHandles handles_;
    std::string token_;
    std::optional<double> max_sm_clock_mhz_;
};

}  // namespace

Result<std::unique_ptr<Telemetry>> open_nvml_telemetry(const Environment& environment,
                                                       const Device& device) {
    OPGAUGE_TRY_ASSIGN(Nvml nvml, open_nvml(environment));
    OPGAUGE_TRY_ASSIGN(const NvmlHandles handles, nvml_handles_of(nvml, device));
    return std::unique_ptr<Telemetry>(
        std::make_unique<NvmlTelemetry>(std::move(nvml), handles, device.token));
}

}  // namespace opgauge
