// SPDX-License-Identifier: Apache-2.0
// Whatever a child says, the parent answers or refuses; each row can be written and read again.
#include "opgauge/run/channel.h"
#include "opgauge/session/conversation.h"

#include "tests/support/fake_clock.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

opgauge::JobSettings job() {
    opgauge::JobSettings settings;
    settings.backend = "cuda";
    settings.device = {{"token", "0"}, {"uuid", "GPU-1a2b-33"}, {"pci_id", nullptr}, {"name", "X"}};
    settings.timer = "graph";
    settings.fallback_timer = "event";
    return settings;
}

opgauge::Result<void> check_row(const opgauge::Row& row,
                                const std::optional<opgauge::SideSamples>& /*base*/,
                                const std::optional<opgauge::SideSamples>& /*candidate*/) {
    const std::string line = opgauge::to_line(opgauge::to_json(row));
    const auto json = opgauge::parse_json(line, "a row of ours");
    if (!json || !opgauge::row_from_json(*json)) std::abort();
    return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const opgauge::testing::FakeClock clock;
    opgauge::RunObserver observer;
    opgauge::DeviceWatch watch(nullptr, opgauge::Heat::burst, clock);
    opgauge::TuningSettings settings;
    settings.mode = opgauge::TuningMode::record;
    opgauge::TuningDesk desk(settings, std::nullopt, std::nullopt);
    opgauge::Conversation talk(
        job(), opgauge::CaptureMemory(), watch, clock, observer, check_row,
        [](const opgauge::Json&) {}, &desk);
    opgauge::LineDecoder decoder;
    const auto messages = decoder.feed(std::string_view(reinterpret_cast<const char*>(data), size));
    for (const auto& message : messages ? *messages : decoder.messages_before_error()) {
        if (const auto answer = talk.on_message(message)) opgauge::to_line(*answer);
        if (talk.wants_stop()) break;
    }
    talk.child_ended("the child exited with 1", opgauge::Exited{1});
    opgauge::to_line(desk.tuning_json());
    if (!desk.lines().empty() && !desk.finish()) std::abort();
    return 0;
}
