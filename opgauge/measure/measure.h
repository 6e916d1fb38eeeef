// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/measure/statistics.h"
#include "opgauge/measure/timer.h"

#include <string>
#include <string_view>
#include <vector>

// The public header of opgauge::measure (docs/timer_library.md). Everything a caller needs:
//     auto runtime = opgauge::measure::open_runtime("BACKEND");
//     opgauge::measure::Options options;
//     options.runtime = runtime->get();
//     auto measured = opgauge::measure::measure(callable, options);
namespace opgauge::measure {

enum class TimerKind {
    automatic,  // with a runtime: graph, or event where the callable cannot be captured; else host
    graph,
    event,
    host,
};

struct Options {
    DeviceRuntime* runtime = nullptr;  // null: the host; must outlive the call
    TimerKind timer = TimerKind::automatic;
    CacheState cache = CacheState::cold;  // of the event timer
    int warmup_calls = 3;                 // before anything is timed; compiling belongs here
    double precision = 0.005;             // relative half-width of the median's 95 % interval
    int min_samples = 20;
    double max_time_s = 1.0;   // spent in timed calls
    double max_wall_s = 10.0;  // spent altogether: a cold sample of a short call is mostly flush
    Proof proof;               // optional, see Proof
    Now now;                   // tests only; empty: the steady clock
};

// One callable, measured. Times in nanoseconds for one call.
struct Measurement {
    std::string timer;     // "graph", "event", "host"
    std::string fallback;  // why it is not the graph timer that automatic tried first; else empty
    int calls_per_sample = 1;
    double estimate_ns = 0;
    std::vector<double> samples_ns;    // in the order in which they were taken
    std::vector<std::string> invalid;  // one reason for each sample that was left out
    Summary summary;                   // of samples_ns
    std::string stopped;               // "precision", "max_time", "max_wall", "max_samples"
    std::vector<std::string> flags;    // "no_hold", "hold_short=3", "invalid=1"
};

// The runtime of a backend with the device that is current, else the one with this index.
Result<std::unique_ptr<DeviceRuntime>> open_runtime(std::string_view backend, int device_index = 0);

// Warms the callable and takes samples until they are precise enough or the time is spent.
Result<Measurement> measure(const Callable& callable, const Options& options);

}  // namespace opgauge::measure
