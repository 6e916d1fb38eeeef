// SPDX-License-Identifier: Apache-2.0
// What libamd_smi and the kernel's hwmon files tell of one device at one moment. Power comes from
// the kernel: the library's struct for it has four layouts. What holds clocks down and which
// processes are there are in structs that moved as well, and stay unknown.
#include "opgauge/base/text.h"
#include "opgauge/device/amd_smi.h"
#include "opgauge/device/rocm_library.h"
#include "opgauge/device/vendor_call.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

// amdsmi_clk_type_t, amdsmi_temperature_type_t, amdsmi_temperature_metric_t
constexpr int kGraphicsClock = 0;
constexpr int kMemoryClock = 4;
constexpr std::array<int, 2> kSensors = {0, 1};  // edge; boards without one have the junction
constexpr int kNow = 0;

std::optional<double> number_in(const std::string& path, double unit) {
    const std::string text = read_first_line(path);
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
    return static_cast<double>(value) * unit;
}

// The device's hwmon folder with a slash at its end; empty where there is none.
std::string hwmon_of(const Environment& environment, const Device& device) {
    if (!device.pci_id) return {};
    const std::string folder = environment.get("OPGAUGE_SYSFS").value_or("/sys") +
                               "/bus/pci/devices/" + *device.pci_id + "/hwmon";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        return entry.path().string() + "/";
    }
    return {};
}

// Names and units are those of the kernel's amdgpu documentation.
void add_from_kernel(const std::string& hwmon, DeviceReading& reading) {
    if (hwmon.empty()) return;
    if (!reading.sm_clock_mhz) reading.sm_clock_mhz = number_in(hwmon + "freq1_input", 1e-6);
    if (!reading.memory_clock_mhz) {
        reading.memory_clock_mhz = number_in(hwmon + "freq2_input", 1e-6);
    }
    if (!reading.temperature_celsius) {
        reading.temperature_celsius = number_in(hwmon + "temp1_input", 1e-3);
    }
    reading.power_watts = number_in(hwmon + "power1_average", 1e-6);
    if (!reading.power_watts) reading.power_watts = number_in(hwmon + "power1_input", 1e-6);
}

class RocmTelemetry final : public Telemetry {
  public:
    RocmTelemetry(std::optional<AmdSmiSession> session, AmdProcessor processor, std::string hwmon,
                  std::string token)
        : session_(std::move(session)),
          processor_(processor),
          hwmon_(std::move(hwmon)),
          token_(std::move(token)) {}

    Result<DeviceReading> read() override {
        DeviceReading reading;
        std::optional<int> silence;
        if (session_) silence = add_from_library(reading);
        add_from_kernel(hwmon_, reading);
        if (silence) {
            return fail(ErrorKind::environment,
                        fmt::format("amd_smi does not read device {}: {}; check it with `amd-smi`",
                                    token_, session_->smi().error(*silence)));
        }
        return reading;
    }

    Result<std::vector<DeviceProcess>> processes() override {
        return fail(ErrorKind::refused, "which processes device " + token_ +
                                            " has is not read: the library's struct for it moves");
    }

  private:
    std::optional<int> add_from_library(DeviceReading& reading) const {
        CallTally tally(kAmdNotSupported);
        const AmdSmi& smi = session_->smi();
        AmdClock clock{};
        if (tally.call(smi.clock, processor_, kGraphicsClock, &clock)) {
            reading.sm_clock_mhz = known(clock.now);
            reading.max_sm_clock_mhz = known(clock.highest);
        }
        clock = {};
        if (tally.call(smi.clock, processor_, kMemoryClock, &clock)) {
            reading.memory_clock_mhz = known(clock.now);
        }
        for (const int sensor : kSensors) {
            std::int64_t celsius = 0;
            if (!tally.call(smi.temperature, processor_, sensor, kNow, &celsius)) continue;
            reading.temperature_celsius = static_cast<double>(celsius);
            break;
        }
        return tally.silence();
    }
    // What is not known is all ones, in 16 or 32 bits.
    static std::optional<double> known(std::uint32_t value) {
        const bool unknown = value == 0 || value == 0xffffU || value == 0xffffffffU;
        return unknown ? std::nullopt : std::optional<double>(value);
    }

    std::optional<AmdSmiSession> session_;
    AmdProcessor processor_;
    std::string hwmon_;
    std::string token_;
};

// By its address, since the library's order is not HIP's; null where it is not among them.
AmdProcessor processor_at(const AmdSmi& smi, const std::string& pci_id) {
    std::vector<AmdProcessor> processors;
    if (list_amd_processors(smi, processors) != 0) return nullptr;
    for (const AmdProcessor processor : processors) {
        std::uint64_t bdf = 0;
        if (smi.bdf(processor, &bdf) == 0 && amd_bdf_text(bdf) == pci_id) return processor;
    }
    return nullptr;
}

}  // namespace

Result<std::unique_ptr<Telemetry>> open_rocm_telemetry(const Environment& environment,
                                                       const Device& device) {
    std::string hwmon = hwmon_of(environment, device);
    auto opened = AmdSmiSession::open(environment);
    std::string reason = opened ? "amd_smi does not list it" : opened.error().message;
    std::optional<AmdSmiSession> session;
    AmdProcessor processor = nullptr;
    if (opened) processor = processor_at(opened->smi(), device.pci_id.value_or(""));
    if (processor != nullptr) session.emplace(std::move(*opened));
    if (!session && hwmon.empty()) {
        return fail(ErrorKind::environment,
                    fmt::format("no readings of device {}: {}, and the kernel has no hwmon folder "
                                "for it; see `opgauge devices`",
                                device.token, reason));
    }
    return std::unique_ptr<Telemetry>(std::make_unique<RocmTelemetry>(
        std::move(session), processor, std::move(hwmon), device.token));
}

}  // namespace opgauge
