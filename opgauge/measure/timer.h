// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/device/device_runtime.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace opgauge::measure {

// What is timed. It queues its work on the stream that it is given (the vendor's own handle; null
// on the host, where it works at once) and must not wait for it.
using Callable = std::function<void(void* stream)>;

// Reads the host's time; tests let it stand still.
using Now = std::function<std::chrono::steady_clock::time_point()>;

enum class CacheState { cold, hot };

// How a call, and a graph's replay, is seen to do its work: `spoil` overwrites the output (on this
// stream), `is_done` tells, after the stream was waited for, whether the output is right again.
struct Proof {
    std::function<void(void* stream)> spoil;
    std::function<bool()> is_done;
};

// Why no graph could be timed; name_of gives the word that stands in Measurement::fallback.
enum class CaptureFault {
    none,
    not_supported,   // the runtime has no graphs
    capture_error,   // the vendor refused: the callable synchronises, allocates, leaves the stream
    no_device_work,  // nothing was queued on the stream
    not_captured,    // the callable works, the replay does not: its work went past the graph
};
std::string_view name_of(CaptureFault fault);

// What a timer has to say of its samples beside their values.
struct TimerNotes {
    bool held = false;    // the device was held busy while a sample was queued
    int hold_short = 0;   // samples for which no hold was long enough; they include queueing
    double hold_ns = 0;   // the last length
    double floor_ns = 0;  // a sample of nothing; 0: not known
    CaptureFault fault = CaptureFault::none;
};

struct TimerTraits {
    std::string_view name;
    double sample_aim_ns = 0;  // how long one sample should be; 0: one call a sample
    int most_calls = 1;        // in one sample
};

// Takes samples of one callable: nanoseconds for one call. What one sample is:
//   host   steady clock around n calls and a wait for them, over n. Includes all that the host
//   does. event  event to event around one call, on a device held busy until both events and the
//   call are
//          queued. Leaves out the host's launch time; includes gaps between the call's own kernels.
//          Cold: a buffer of twice the L2 cache is written before each call.
//   graph  a replay of a captured graph of n calls, over n, replays queued back to back. Leaves out
//          the host altogether. Hot: each call finds the cache as the one before left it.
// A timer is used for one callable, which has been called before: compiling and tuning are over.
class Timer {
  public:
    virtual ~Timer() = default;
    virtual const TimerTraits& traits() const = 0;
    // Makes ready for this callable; a rough time of one call in nanoseconds.
    virtual Result<double> prepare(Callable callable) = 0;
    // So many samples of so many calls each, 1 <= calls_per_sample <= traits().most_calls.
    virtual Result<std::vector<double>> burst(int samples, int calls_per_sample) = 0;
    virtual TimerNotes notes() const { return {}; }
};

// `runtime`, where there is one, is waited for within the sample. It must outlive the timer.
std::unique_ptr<Timer> make_host_timer(DeviceRuntime* runtime, Now now);
std::unique_ptr<Timer> make_event_timer(DeviceRuntime& runtime, CacheState cache);
std::unique_ptr<Timer> make_graph_timer(DeviceRuntime& runtime, Proof proof);

}  // namespace opgauge::measure
