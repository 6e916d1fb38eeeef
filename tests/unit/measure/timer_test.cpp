// SPDX-License-Identifier: Apache-2.0
// Timers on the stand-in driver, whose clocks move only by what is scripted.
#include "opgauge/measure/timer.h"

#include "tests/support/fake_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgauge::measure {
namespace {

using ::testing::Each;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The vendor tells times as float milliseconds: that is how exact a sample can be.
std::vector<float> floats(const Result<std::vector<double>>& values) {
    if (!values) return {};
    return {values->begin(), values->end()};
}

class DeviceTimer : public ::testing::Test {
  protected:
    opgauge::testing::FakeDevice device_;
    std::unique_ptr<DeviceRuntime> runtime_ = std::move(*device_.open());
};
using EventTimer = DeviceTimer;
using GraphTimer = DeviceTimer;

TEST_F(EventTimer, LeavesTheHostsTimeOut) {
    const auto timer = make_event_timer(*runtime_, CacheState::cold);
    const auto estimate = timer->prepare([&](void*) {
        device_.host_work(20'000);
        device_.launch(3'000);
    });
    ASSERT_TRUE(estimate);
    EXPECT_FLOAT_EQ(static_cast<float>(*estimate), 3'000);
    const auto values = floats(timer->burst(4, 1));
    EXPECT_THAT(values, SizeIs(4));
    EXPECT_THAT(values, Each(FloatEq(3'000)));
    EXPECT_EQ(timer->notes().hold_short, 0);
    EXPECT_EQ(timer->notes().hold_ns, 50'000);
    EXPECT_EQ(timer->notes().floor_ns, 0);
}

TEST_F(EventTimer, FlushesThenHoldsThenQueuesBetweenTwoEvents) {
    const auto timer = make_event_timer(*runtime_, CacheState::cold);
    ASSERT_TRUE(timer->prepare([&](void*) { device_.launch(3'000); }));
    const auto before = device_.log().size();
    ASSERT_TRUE(timer->burst(1, 1));
    EXPECT_EQ(device_.log().substr(before), "flush hold record kernel record query wait_event ");
    EXPECT_EQ(device_.flushed_bytes(), 2.0 * (50 << 20));
}

TEST_F(EventTimer, HotCacheIsNotFlushed) {
    const auto timer = make_event_timer(*runtime_, CacheState::hot);
    ASSERT_TRUE(timer->prepare([&](void*) { device_.launch(3'000); }));
    EXPECT_THAT(device_.log(), ::testing::Not(HasSubstr("flush")));
}

TEST_F(EventTimer, TakesASampleAgainWhoseHoldWasTooShort) {
    const auto timer = make_event_timer(*runtime_, CacheState::hot);
    double host_ns = 0;
    ASSERT_TRUE(timer->prepare([&](void*) {
        device_.host_work(host_ns);
        device_.launch(3'000);
    }));
    host_ns = 300'000;  // the hold is 50 us, then 250 us, then 1250 us
    const auto before = device_.log().size();
    EXPECT_THAT(floats(timer->burst(1, 1)), ::testing::ElementsAre(FloatEq(3'000)));
    const std::string once = "hold record kernel record query wait_event ";
    EXPECT_EQ(device_.log().substr(before), once + once + once);
    EXPECT_EQ(timer->notes().hold_ns, 1'250'000);
    EXPECT_EQ(timer->notes().hold_short, 0);
    // The hold stays as long as it had to be.
    EXPECT_THAT(floats(timer->burst(2, 1)), Each(FloatEq(3'000)));
    EXPECT_EQ(timer->notes().hold_ns, 1'250'000);
}

TEST_F(EventTimer, CountsSamplesThatNoHoldWasLongEnoughFor) {
    const auto timer = make_event_timer(*runtime_, CacheState::hot);
    ASSERT_TRUE(timer->prepare([&](void*) {
        device_.launch(3'000);
        device_.synchronize();
    }));
    // The wait ends with the kernel; the end event is recorded one call of 1 us later.
    EXPECT_THAT(floats(timer->burst(3, 1)), Each(FloatEq(4'000)));
    EXPECT_EQ(timer->notes().hold_short, 3);
    EXPECT_EQ(timer->notes().hold_ns, 50'000);
}

TEST(EventTimerWithoutHold, SaysThatItHoldsNothingAndIncludesTheHost) {
    opgauge::testing::FakeDevice device("rocm");
    const auto runtime = std::move(*device.open());
    const auto timer = make_event_timer(*runtime, CacheState::hot);
    ASSERT_TRUE(timer->prepare([&](void*) {
        device.host_work(20'000);
        device.launch(3'000);
    }));
    // The launch costs the host 1 us, so the kernel starts 21 us after the first event.
    EXPECT_THAT(floats(timer->burst(2, 1)), Each(FloatEq(24'000)));
    EXPECT_FALSE(timer->notes().held);
    EXPECT_EQ(timer->notes().hold_short, 0);
    EXPECT_EQ(runtime->why_no_hold(), "no kernel to hold it with is built for this vendor");
}

TEST_F(GraphTimer, DividesAReplayByItsCalls) {
    device_.set("replay_ns", 8'100);
    const auto timer = make_graph_timer(*runtime_, {});
    const auto estimate = timer->prepare([&](void*) {
        device_.host_work(20'000);
        device_.launch(1'500);
        device_.launch(500);
    });
    ASSERT_TRUE(estimate);
    // One call alone lasts 10.1 us, so the second graph has 100 calls.
    EXPECT_FLOAT_EQ(static_cast<float>(*estimate), 2'081);
    const auto values = floats(timer->burst(3, 500));
    EXPECT_THAT(values, SizeIs(3));
    EXPECT_THAT(values, Each(FloatEq(2'016.2F)));
}

TEST_F(GraphTimer, QueuesReplaysBackToBackWithEventsBetween) {
    const auto timer = make_graph_timer(*runtime_, {});
    ASSERT_TRUE(timer->prepare([&](void*) { device_.launch(2e6); }));
    const auto before = device_.log().size();
    ASSERT_TRUE(timer->burst(2, 1));
    EXPECT_EQ(device_.log().substr(before),
              "replay record replay record replay record wait_event ");
}

TEST_F(GraphTimer, NamesACallableThatQueuesNothing) {
    const auto timer = make_graph_timer(*runtime_, {});
    const auto estimate = timer->prepare([&](void*) { device_.host_work(5'000); });
    ASSERT_FALSE(estimate);
    EXPECT_EQ(timer->notes().fault, CaptureFault::no_device_work);
    EXPECT_THAT(estimate.error().message, HasSubstr("no_device_work"));
}

TEST_F(GraphTimer, TellsWorkBesideTheStreamFromNoWork) {
    bool written = false;
    const Proof proof{[&](void*) { written = false; }, [&] { return written; }};
    const auto timer = make_graph_timer(*runtime_, proof);
    const auto estimate = timer->prepare([&](void*) { written = true; });
    ASSERT_FALSE(estimate);
    EXPECT_EQ(timer->notes().fault, CaptureFault::not_captured);
}

TEST_F(GraphTimer, RefusesAGraphWhoseReplayDoesNotDoTheWork) {
    bool written = false;
    const Proof proof{[&](void*) { written = false; }, [&] { return written; }};
    const auto timer = make_graph_timer(*runtime_, proof);
    const auto estimate = timer->prepare([&](void*) {
        device_.launch(2'000);  // captured, but the output is written by something else
        written = true;
    });
    ASSERT_FALSE(estimate);
    EXPECT_EQ(timer->notes().fault, CaptureFault::not_captured);
    EXPECT_THAT(estimate.error().message, HasSubstr("its replay does not do the work"));
}

TEST_F(GraphTimer, ReportsACaptureThatTheVendorRefuses) {
    const auto timer = make_graph_timer(*runtime_, {});
    const auto estimate = timer->prepare([&](void*) {
        device_.launch(2'000);
        device_.synchronize();
    });
    ASSERT_FALSE(estimate);
    EXPECT_EQ(timer->notes().fault, CaptureFault::capture_error);
    EXPECT_EQ(estimate.error().kind, ErrorKind::failed);
    EXPECT_THAT(estimate.error().message,
                HasSubstr("refuses to capture the callable: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED "
                          "(901)"));
}

TEST_F(GraphTimer, ACallableThatThrowsLeavesNoCaptureOpen) {
    const auto timer = make_graph_timer(*runtime_, {});
    EXPECT_THROW(static_cast<void>(timer->prepare([](void*) { throw 1; })), int);
    const auto again = make_graph_timer(*runtime_, {});
    EXPECT_TRUE(again->prepare([&](void*) { device_.launch(2'000); }));
}

TEST(GraphTimerOnAnOldLibrary, IsRefused) {
    opgauge::testing::FakeDevice device("cuda", "bare");
    const auto runtime = std::move(*device.open());
    EXPECT_FALSE(runtime->can_hold());
    const auto timer = make_graph_timer(*runtime, {});
    const auto estimate = timer->prepare([&](void*) { device.launch(2'000); });
    ASSERT_FALSE(estimate);
    EXPECT_EQ(estimate.error().kind, ErrorKind::refused);
    EXPECT_EQ(timer->notes().fault, CaptureFault::not_supported);
}

TEST_F(DeviceTimer, HostTimerIncludesTheHostAndWaitsForTheDevice) {
    const auto timer = make_host_timer(runtime_.get(), [&] { return device_.now(); });
    ASSERT_TRUE(timer->prepare([&](void*) { device_.launch(3'000); }));
    // Four launches of 1 us each; the first kernel starts after 1 us and the four take 12 us.
    const auto values = timer->burst(2, 4);
    ASSERT_TRUE(values);
    EXPECT_THAT(*values, Each(13'000.0 / 4));
}

TEST(DeviceRuntime, ErrorsSayWhatIsMissing) {
    const opgauge::testing::FakeDevice old("cuda", "old");
    EXPECT_THAT(old.open().error().message,
                HasSubstr("libcuda.so.1 is too old: it lacks cuEventElapsedTime"));
    const opgauge::testing::FakeDevice now;
    EXPECT_THAT(now.open(7).error().message,
                HasSubstr("refuses device 7: CUDA_ERROR_INVALID_DEVICE (101)"));
    EXPECT_EQ(DeviceRuntime::open("abacus", 0, {}).error().kind, ErrorKind::usage);
    Environment nowhere;
    nowhere.set("OPGAUGE_LIBRARY_PATH", "/nowhere");
    EXPECT_EQ(DeviceRuntime::open("cuda", 0, nowhere).error().message, "no library libcuda.so.1");
}

TEST(DeviceRuntime, TellsWhatItCanDo) {
    const opgauge::testing::FakeDevice device;
    const auto runtime = std::move(*device.open());
    EXPECT_TRUE(runtime->can_capture());
    EXPECT_TRUE(runtime->can_hold());
    EXPECT_EQ(runtime->l2_bytes(), 50U << 20U);
    EXPECT_EQ(runtime->backend(), "cuda");
}

}  // namespace
}  // namespace opgauge::measure
