// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/timer.h"

#include <algorithm>
#include <utility>

namespace opgauge::measure {
namespace {

constexpr int kEstimateSamples = 3;
constexpr int kFloorSamples = 5;
// The first is about ten launches; five times longer each, the last is 31 ms: longer than any
// callable that only queues, too short to be felt where one synchronises.
constexpr double kFirstHoldNs = 50e3;
constexpr double kHoldGrowth = 5;
constexpr int kMostHolds = 5;

constexpr std::size_t kStart = 0;
constexpr std::size_t kEnd = 1;

class EventTimer final : public Timer {
  public:
    EventTimer(DeviceRuntime& runtime, CacheState cache) : runtime_(runtime), cache_(cache) {
        notes_.held = runtime.can_hold();
        notes_.hold_ns = notes_.held ? kFirstHoldNs : 0;
    }

    const TimerTraits& traits() const override {
        static constexpr TimerTraits kTraits{"event", 0, 1};
        return kTraits;
    }

    Result<double> prepare(Callable callable) override {
        if (notes_.held) {
            // Without a hold two events measure how fast the host queues: no floor.
            callable_ = [](void*) {};
            OPGAUGE_TRY_ASSIGN(const auto nothing, burst(kFloorSamples, 1));
            notes_.floor_ns = *std::min_element(nothing.begin(), nothing.end());
        }
        callable_ = std::move(callable);
        OPGAUGE_TRY_ASSIGN(const auto values, burst(kEstimateSamples, 1));
        notes_.hold_short = 0;  // these samples are not the caller's
        return *std::min_element(values.begin(), values.end());
    }

    Result<std::vector<double>> burst(int samples, int) override {
        std::vector<double> values;
        for (int i = 0; i < samples; ++i) {
            OPGAUGE_TRY_ASSIGN(const double value, sample());
            values.push_back(value);
        }
        return values;
    }

    TimerNotes notes() const override { return notes_; }

  private:
    struct Taken {
        double value_ns = 0;
        bool held = false;  // until everything was queued
    };

    // A sample whose start event had passed before its end was queued includes the host: it is
    // taken again with a longer hold. A callable that synchronises outlasts every hold; its samples
    // are kept and counted, and later ones are not tried again.
    Result<double> sample() {
        OPGAUGE_TRY_ASSIGN(Taken taken, take_one());
        for (int holds = 1; notes_.held && !taken.held && !gave_up_; ++holds) {
            if (holds == kMostHolds) {
                gave_up_ = true;
                notes_.hold_ns = kFirstHoldNs;
                break;
            }
            notes_.hold_ns *= kHoldGrowth;
            OPGAUGE_TRY_ASSIGN(taken, take_one());
        }
        if (notes_.held && !taken.held) ++notes_.hold_short;
        return taken.value_ns;
    }

    Result<Taken> take_one() {
        if (cache_ == CacheState::cold) OPGAUGE_TRY(runtime_.flush_cache());
        if (notes_.held) OPGAUGE_TRY(runtime_.hold(notes_.hold_ns));
        OPGAUGE_TRY(runtime_.record(kStart));
        callable_(runtime_.stream());
        OPGAUGE_TRY(runtime_.record(kEnd));
        OPGAUGE_TRY_ASSIGN(const bool started, runtime_.has_passed(kStart));
        OPGAUGE_TRY(runtime_.wait_for(kEnd));
        OPGAUGE_TRY_ASSIGN(const double value, runtime_.elapsed_ns(kStart, kEnd));
        return Taken{value, !started};
    }

    DeviceRuntime& runtime_;
    CacheState cache_;
    Callable callable_;
    TimerNotes notes_;
    bool gave_up_ = false;
};

}  // namespace

std::unique_ptr<Timer> make_event_timer(DeviceRuntime& runtime, CacheState cache) {
    return std::make_unique<EventTimer>(runtime, cache);
}

}  // namespace opgauge::measure
