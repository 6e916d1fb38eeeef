// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/measure.h"

#include "tests/support/fake_device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge::measure {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Measure : public ::testing::Test {
  protected:
    opgauge::testing::FakeDevice device_;
    std::unique_ptr<DeviceRuntime> runtime_ = std::move(*device_.open());
    Options options_ = make_options();

  private:
    Options make_options() {
        Options options;
        options.runtime = runtime_.get();
        options.now = [this] { return device_.now(); };
        return options;
    }
};

TEST_F(Measure, AGraphReplayLastsAboutAMillisecond) {
    const auto measured = measure([&](void*) { device_.launch(4'000); }, options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->timer, "graph");
    EXPECT_EQ(measured->fallback, "");
    EXPECT_EQ(measured->calls_per_sample, 250);
    EXPECT_FLOAT_EQ(static_cast<float>(measured->summary.median), 4'000);
    EXPECT_EQ(measured->samples_ns.size(), 20U);
    EXPECT_EQ(measured->summary.count, 20U);
    EXPECT_EQ(measured->stopped, "precision");
    EXPECT_THAT(measured->flags, IsEmpty());
}

TEST_F(Measure, AGraphHoldsNoMoreThanAThousandCalls) {
    const auto measured = measure([&](void*) { device_.launch(100); }, options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->calls_per_sample, 1'000);
    EXPECT_FLOAT_EQ(static_cast<float>(measured->summary.median), 100);
}

TEST_F(Measure, FallsBackToEventsWhereNothingCanBeCaptured) {
    const auto measured = measure(
        [&](void*) {
            device_.launch(3'000);
            device_.synchronize();
        },
        options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->timer, "event");
    EXPECT_EQ(measured->fallback, "capture_error");
    EXPECT_EQ(measured->calls_per_sample, 1);
    EXPECT_FLOAT_EQ(static_cast<float>(measured->summary.median), 4'000);
    EXPECT_THAT(measured->flags,
                ElementsAre(fmt::format("hold_short={}", measured->summary.count)));
}

TEST_F(Measure, AChosenGraphTimerDoesNotFallBack) {
    options_.timer = TimerKind::graph;
    const auto measured = measure([&](void*) { device_.synchronize(); }, options_);
    ASSERT_FALSE(measured);
    EXPECT_THAT(measured.error().message, HasSubstr("to capture the callable"));
}

TEST_F(Measure, ACallableWithoutDeviceWorkIsAnError) {
    const auto captured = measure([](void*) {}, options_);
    ASSERT_FALSE(captured);
    EXPECT_THAT(captured.error().message, HasSubstr("no_device_work"));
    options_.timer = TimerKind::event;
    const auto between_events = measure([](void*) {}, options_);
    ASSERT_FALSE(between_events);
    EXPECT_EQ(between_events.error().message,
              "timing with event: no usable sample, the first is zero; the callable does no work "
              "that this timer sees");
}

TEST_F(Measure, ACallableThatFailsInSilenceIsNotTimed) {
    bool written = false;
    options_.timer = TimerKind::event;
    options_.proof = {[&](void*) { written = false; }, [&] { return written; }};
    const auto measured = measure([&](void*) { device_.launch(1'000); }, options_);
    ASSERT_FALSE(measured);
    EXPECT_THAT(measured.error().message, HasSubstr("its output was not written"));
}

TEST_F(Measure, FallsBackToEventsWhereTheWorkIsBesideTheStream) {
    bool written = false;
    options_.proof = {[&](void*) { written = false; }, [&] { return written; }};
    device_.set("ignore_replays", 1);
    const auto measured = measure(
        [&](void*) {
            device_.launch(2'000);
            written = true;
        },
        options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->timer, "event");
    EXPECT_EQ(measured->fallback, "not_captured");
}

TEST_F(Measure, WarmsUpBeforeItTimes) {
    int calls = 0;
    options_.timer = TimerKind::event;
    const auto measured = measure(
        [&](void*) {
            ++calls;
            device_.launch(calls <= 3 ? 9e6 : 2'000);
        },
        options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_FLOAT_EQ(static_cast<float>(measured->summary.maximum), 2'000);
}

TEST_F(Measure, StopsWhenTheTimeAltogetherIsSpent) {
    options_.timer = TimerKind::event;
    options_.min_samples = 5'000;  // at 2 us each far from max_time_s
    options_.max_wall_s = 0.01;
    const auto measured = measure([&](void*) { device_.launch(2'000); }, options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->stopped, "max_wall");
}

TEST_F(Measure, FlagsADeviceThatCannotBeHeld) {
    opgauge::testing::FakeDevice device("rocm");
    const auto runtime = std::move(*device.open());
    options_.runtime = runtime.get();
    options_.timer = TimerKind::event;
    options_.cache = CacheState::hot;  // a flush would hide the launch
    options_.now = [&] { return device.now(); };
    const auto measured = measure([&](void*) { device.launch(3'000); }, options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_THAT(measured->flags, ElementsAre("no_hold"));
    EXPECT_FLOAT_EQ(static_cast<float>(measured->summary.median), 4'000);
}

TEST_F(Measure, WithoutARuntimeItIsTheHostTimer) {
    options_.runtime = nullptr;
    const auto measured = measure(
        [&](void* stream) {
            EXPECT_EQ(stream, nullptr);
            device_.host_work(500);
        },
        options_);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->timer, "host");
    EXPECT_EQ(measured->calls_per_sample, 200);
    EXPECT_THAT(measured->samples_ns, Each(500.0));
}

TEST_F(Measure, RefusesWhatCannotBeTimed) {
    EXPECT_EQ(measure(nullptr, options_).error().kind, ErrorKind::usage);
    options_.runtime = nullptr;
    options_.timer = TimerKind::graph;
    EXPECT_EQ(measure([](void*) {}, options_).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace opgauge::measure
