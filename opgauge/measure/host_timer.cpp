// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/timer.h"

#include <utility>

namespace opgauge::measure {
namespace {

constexpr int kEstimateCalls = 3;

class HostTimer final : public Timer {
  public:
    HostTimer(DeviceRuntime* runtime, Now now) : runtime_(runtime), now_(std::move(now)) {}

    const TimerTraits& traits() const override {
        static constexpr TimerTraits kTraits{"host", 100e3, 100'000};
        return kTraits;
    }

    Result<double> prepare(Callable callable) override {
        callable_ = std::move(callable);
        return sample(kEstimateCalls);
    }

    Result<std::vector<double>> burst(int samples, int calls_per_sample) override {
        std::vector<double> values;
        for (int i = 0; i < samples; ++i) {
            OPGAUGE_TRY_ASSIGN(const double value, sample(calls_per_sample));
            values.push_back(value);
        }
        return values;
    }

  private:
    Result<double> sample(int calls) {
        void* const stream = runtime_ != nullptr ? runtime_->stream() : nullptr;
        const auto begin = now_();
        for (int i = 0; i < calls; ++i) callable_(stream);
        if (runtime_ != nullptr) OPGAUGE_TRY(runtime_->synchronize());
        return std::chrono::duration<double, std::nano>(now_() - begin).count() / calls;
    }

    DeviceRuntime* runtime_;
    Now now_;
    Callable callable_;
};

}  // namespace

std::unique_ptr<Timer> make_host_timer(DeviceRuntime* runtime, Now now) {
    return std::make_unique<HostTimer>(runtime, std::move(now));
}

}  // namespace opgauge::measure
