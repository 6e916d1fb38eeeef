// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/measure.h"

#include "opgauge/measure/stopping_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace opgauge::measure {
namespace {

std::unique_ptr<Timer> make_timer(TimerKind kind, const Options& options, const Now& now) {
    switch (kind) {
        case TimerKind::graph:
            return make_graph_timer(*options.runtime, options.proof);
        case TimerKind::event:
            return make_event_timer(*options.runtime, options.cache);
        default:
            return make_host_timer(options.runtime, now);
    }
}

Result<void> warm_up(const Callable& callable, const Options& options) {
    void* const stream = options.runtime != nullptr ? options.runtime->stream() : nullptr;
    for (int i = 0; i < options.warmup_calls; ++i) callable(stream);
    if (options.runtime != nullptr) OPGAUGE_TRY(options.runtime->synchronize());
    return {};
}

// A callable that fails in silence would be timed as a very fast one.
Result<void> prove(const Callable& callable, const Options& options) {
    if (!options.proof.is_done) return {};
    void* const stream = options.runtime != nullptr ? options.runtime->stream() : nullptr;
    if (options.proof.spoil) options.proof.spoil(stream);
    callable(stream);
    if (options.runtime != nullptr) OPGAUGE_TRY(options.runtime->synchronize());
    if (options.proof.is_done()) return {};
    return fail(ErrorKind::failed,
                "calling what is to be timed: its output was not written, so its time would mean "
                "nothing; check what its launch returns");
}

// Asks the stopping rule and the timer in turn; why it ended.
Result<std::string> take_samples(Timer& timer, const Options& options, const Now& now,
                                 SideSamples& side) {
    StoppingSettings settings;
    settings.precision = options.precision;
    settings.min_samples = options.min_samples;
    settings.max_time_s = options.max_time_s;
    settings.max_wall_s = options.max_wall_s;
    settings.sample_ns = timer.traits().sample_aim_ns;
    const auto begin = now();
    while (true) {
        side.wall_s = std::chrono::duration<double>(now() - begin).count();
        const auto decision = decide(settings, side);
        if (const auto* enough = std::get_if<Enough>(&decision)) return enough->reason;
        const auto& more = std::get<MoreSamples>(decision);
        side.calls_per_sample = std::min(more.calls_per_sample, timer.traits().most_calls);
        OPGAUGE_TRY_ASSIGN(const auto values, timer.burst(more.samples, side.calls_per_sample));
        add_values(side, values, timer.notes().floor_ns);
    }
}

std::vector<std::string> flags_of(const Timer& timer, const SideSamples& side) {
    std::vector<std::string> flags;
    const TimerNotes notes = timer.notes();
    if (timer.traits().name == "event" && !notes.held) flags.emplace_back("no_hold");
    if (notes.hold_short > 0) flags.push_back(fmt::format("hold_short={}", notes.hold_short));
    if (!side.invalid.empty()) flags.push_back(fmt::format("invalid={}", side.invalid.size()));
    return flags;
}

Result<Measurement> measure_with(Timer& timer, double estimate_ns, const Options& options,
                                 const Now& now) {
    SideSamples side;
    side.estimate_ns = estimate_ns;
    OPGAUGE_TRY_ASSIGN(std::string stopped, take_samples(timer, options, now, side));
    const auto summary = summarize(side.values_ns);
    if (!summary) {
        return fail(ErrorKind::failed,
                    fmt::format("timing with {}: no usable sample, the first is {}; the callable "
                                "does no work that this timer sees",
                                timer.traits().name, side.invalid.front()));
    }
    Measurement measured;
    measured.timer = timer.traits().name;
    measured.calls_per_sample = side.calls_per_sample;
    measured.estimate_ns = estimate_ns;
    measured.flags = flags_of(timer, side);
    measured.summary = *summary;
    measured.samples_ns = std::move(side.values_ns);
    measured.invalid = std::move(side.invalid);
    measured.stopped = std::move(stopped);
    return measured;
}

Result<void> check_options(const Callable& callable, const Options& options) {
    if (!callable) return fail(ErrorKind::usage, "nothing to measure: the callable is empty");
    if (options.runtime == nullptr &&
        (options.timer == TimerKind::graph || options.timer == TimerKind::event)) {
        return fail(ErrorKind::usage,
                    "graph and event need a device: set Options::runtime, or use the host timer");
    }
    return {};
}

TimerKind first_choice(const Options& options) {
    if (options.timer != TimerKind::automatic) return options.timer;
    return options.runtime != nullptr ? TimerKind::graph : TimerKind::host;
}

}  // namespace

Result<std::unique_ptr<DeviceRuntime>> open_runtime(std::string_view backend, int device_index) {
    return DeviceRuntime::open(backend, device_index, Environment::of_this_process());
}

Result<Measurement> measure(const Callable& callable, const Options& options) {
    OPGAUGE_TRY(check_options(callable, options));
    const Now now = options.now ? options.now : Now(std::chrono::steady_clock::now);
    OPGAUGE_TRY(warm_up(callable, options));
    OPGAUGE_TRY(prove(callable, options));
    std::string fallback;
    auto timer = make_timer(first_choice(options), options, now);
    auto estimate = timer->prepare(callable);
    const CaptureFault fault = timer->notes().fault;
    // Where nothing is queued, events would only measure nothing.
    if (!estimate && options.timer == TimerKind::automatic && fault != CaptureFault::none &&
        fault != CaptureFault::no_device_work) {
        fallback = name_of(fault);
        timer = make_timer(TimerKind::event, options, now);
        estimate = timer->prepare(callable);
    }
    if (!estimate) return tl::unexpected<Error>(estimate.error());
    OPGAUGE_TRY_ASSIGN(Measurement measured, measure_with(*timer, *estimate, options, now));
    measured.fallback = std::move(fallback);
    return measured;
}

}  // namespace opgauge::measure
