// SPDX-License-Identifier: Apache-2.0
// What DCMI tells of one device at one moment. Its header has no plain function for what holds
// clocks down; a clock below the highest under load is all there is to see.
#include "opgauge/device/dcmi.h"
#include "opgauge/device/vendor_call.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {
namespace {

// dcmi_freq_type
constexpr int kHbmClock = 6;
constexpr int kCoreClock = 7;
constexpr int kHighestCoreClock = 9;
constexpr unsigned kHighestHealth = 3;  // above: the device does not answer

class DcmiTelemetry final : public Telemetry {
  public:
    DcmiTelemetry(DcmiSession session, DcmiPlace place, std::string token)
        : session_(std::move(session)), place_(place), token_(std::move(token)) {}

    Result<DeviceReading> read() override {
        const Dcmi& dcmi = session_.dcmi;
        CallTally tally(kDcmiNotSupported);
        DeviceReading reading;
        reading.sm_clock_mhz = clock(tally, kCoreClock);
        reading.max_sm_clock_mhz = clock(tally, kHighestCoreClock);
        reading.memory_clock_mhz = clock(tally, kHbmClock);
        int celsius = 0;
        if (tally.call(dcmi.temperature, place_.card, place_.chip, &celsius)) {
            reading.temperature_celsius = celsius;
        }
        int tenths = 0;
        // The second die of a package answers 0: its power is the first one's.
        if (tally.call(dcmi.power, place_.card, place_.chip, &tenths) && tenths > 0) {
            reading.power_watts = tenths / 10.0;
        }
        unsigned health = 0;
        if (tally.call(dcmi.health, place_.card, place_.chip, &health) && health > kHighestHealth) {
            return failed("the device does not answer");
        }
        if (const auto code = tally.silence()) return failed(dcmi_error(*code));
        return reading;
    }

    Result<std::vector<DeviceProcess>> processes() override {
        std::vector<DeviceProcess> list;
        const int code = dcmi_processes(session_.dcmi, place_, list);
        if (code == kDcmiNotSupported) {
            return fail(ErrorKind::refused, "DCMI lists no processes of device " + token_);
        }
        if (code != 0) return failed(dcmi_error(code));
        return list;
    }

  private:
    std::optional<double> clock(CallTally& tally, int kind) const {
        unsigned mhz = 0;
        const bool known =
            tally.call(session_.dcmi.frequency, place_.card, place_.chip, kind, &mhz) && mhz > 0;
        return known ? std::optional<double>(mhz) : std::nullopt;
    }
    tl::unexpected<Error> failed(const std::string& what) const {
        return fail(ErrorKind::environment,
                    fmt::format("DCMI does not read device {}: {}; check it with `npu-smi info`",
                                token_, what));
    }

    DcmiSession session_;
    DcmiPlace place_;
    std::string token_;
};

}  // namespace

Result<std::unique_ptr<Telemetry>> open_dcmi_telemetry(const Environment& environment,
                                                       const Device& device) {
    OPGAUGE_TRY_ASSIGN(DcmiSession session, open_dcmi(environment));
    std::vector<std::string> reasons;
    for (const DcmiPlace& place : dcmi_npus(session.dcmi, reasons)) {
        const std::string die = dcmi_die_id(session.dcmi, place);
        const bool same =
            device.uuid && !die.empty() ? die == *device.uuid : place.logic == device.index;
        if (!same) continue;
        return std::unique_ptr<Telemetry>(
            std::make_unique<DcmiTelemetry>(std::move(session), place, device.token));
    }
    reasons.insert(reasons.begin(), "DCMI lists no device " + device.token);
    return fail(ErrorKind::environment,
                fmt::format("{}; see `opgauge devices`", fmt::join(reasons, "; ")));
}

}  // namespace opgauge
