// SPDX-License-Identifier: Apache-2.0
// What MTML tells of one device at one moment. It has no function for what holds clocks down and
// none that lists processes; clocks below the highest under load are all there is to see.
#include "opgauge/device/mtml.h"
#include "opgauge/device/vendor_call.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {
namespace {

// The handles of one device, of its core and of its memory; null where the library has none.
struct Parts {
    MtmlHandle device = nullptr;
    MtmlHandle gpu = nullptr;
    MtmlHandle memory = nullptr;
};

class MtmlTelemetry final : public Telemetry {
  public:
    MtmlTelemetry(MtmlSession session, MtmlHandle device, std::string token)
        : session_(std::move(session)), token_(std::move(token)) {
        const Mtml& mtml = session_.mtml();
        parts_.device = device;
        if (mtml.init_gpu != nullptr && mtml.init_gpu(device, &parts_.gpu) != kMtmlSuccess) {
            parts_.gpu = nullptr;
        }
        if (mtml.init_memory != nullptr &&
            mtml.init_memory(device, &parts_.memory) != kMtmlSuccess) {
            parts_.memory = nullptr;
        }
    }
    MtmlTelemetry(const MtmlTelemetry&) = delete;
    MtmlTelemetry& operator=(const MtmlTelemetry&) = delete;
    ~MtmlTelemetry() override {
        const Mtml& mtml = session_.mtml();
        if (parts_.gpu != nullptr && mtml.free_gpu != nullptr) mtml.free_gpu(parts_.gpu);
        if (parts_.memory != nullptr && mtml.free_memory != nullptr) {
            mtml.free_memory(parts_.memory);
        }
        if (mtml.free_device != nullptr) mtml.free_device(parts_.device);
    }

    Result<DeviceReading> read() override {
        const Mtml& mtml = session_.mtml();
        CallTally tally(kMtmlNotSupported);
        DeviceReading reading;
        reading.sm_clock_mhz = number(tally, mtml.clock, parts_.gpu);
        reading.max_sm_clock_mhz = number(tally, mtml.max_clock, parts_.gpu);
        reading.memory_clock_mhz = number(tally, mtml.memory_clock, parts_.memory);
        int celsius = 0;
        if (parts_.gpu != nullptr && tally.call(mtml.temperature, parts_.gpu, &celsius)) {
            reading.temperature_celsius = celsius;
        }
        if (const auto milliwatts = number(tally, mtml.power, parts_.device)) {
            reading.power_watts = *milliwatts / 1000;
        }
        if (const auto code = tally.silence()) {
            return fail(
                ErrorKind::environment,
                fmt::format("MTML does not read device {}: {}; check it with `mthreads-gmi`",
                            token_, mtml.error(*code)));
        }
        return reading;
    }

    Result<std::vector<DeviceProcess>> processes() override {
        return fail(ErrorKind::refused, "MTML lists no processes of device " + token_);
    }

  private:
    // Some drivers answer success with 0 for what they do not know.
    static std::optional<double> number(CallTally& tally,
                                        MtmlReturn (*function)(MtmlHandle, unsigned*),
                                        MtmlHandle handle) {
        unsigned value = 0;
        if (handle == nullptr || !tally.call(function, handle, &value)) return std::nullopt;
        return value > 0 ? std::optional<double>(value) : std::nullopt;
    }

    MtmlSession session_;
    Parts parts_;
    std::string token_;
};

}  // namespace

Result<std::unique_ptr<Telemetry>> open_mtml_telemetry(const Environment& environment,
                                                       const Device& device) {
    OPGAUGE_TRY_ASSIGN(MtmlSession session, MtmlSession::open(environment));
    const Mtml& mtml = session.mtml();
    MtmlHandle handle = nullptr;
    const MtmlReturn code =
        device.uuid && mtml.device_by_uuid != nullptr
            ? mtml.device_by_uuid(session.handle(), device.uuid->c_str(), &handle)
            : mtml.device(session.handle(), static_cast<unsigned>(device.index), &handle);
    if (code != kMtmlSuccess) {
        return fail(ErrorKind::environment,
                    fmt::format("MTML does not open device {}: {}; see `opgauge devices`",
                                device.token, mtml.error(code)));
    }
    return std::unique_ptr<Telemetry>(
        std::make_unique<MtmlTelemetry>(std::move(session), handle, device.token));
}

}  // namespace opgauge
