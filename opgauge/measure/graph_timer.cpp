// SPDX-License-Identifier: Apache-2.0
#include "opgauge/measure/stopping_rule.h"
#include "opgauge/measure/timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace opgauge::measure {
namespace {

constexpr int kEstimateReplays = 3;

class GraphTimer final : public Timer {
  public:
    GraphTimer(DeviceRuntime& runtime, Proof proof) : runtime_(runtime), proof_(std::move(proof)) {}

    const TimerTraits& traits() const override {
        static constexpr TimerTraits kTraits{"graph", kGraphSampleNs, kMaxCallsPerGraph};
        return kTraits;
    }

    // The one-call graph tells whether the callable can be captured, and a time that still holds
    // the replay's own overhead; a graph of as many calls as that asks for tells it without.
    Result<double> prepare(Callable callable) override {
        callable_ = std::move(callable);
        OPGAUGE_TRY(capture(1));
        OPGAUGE_TRY(prove());
        OPGAUGE_TRY_ASSIGN(const double alone, shortest());
        if (!(alone > 0)) return alone;
        const double calls = std::ceil(kGraphSampleNs / alone);
        if (calls < 2) return alone;
        OPGAUGE_TRY(capture(static_cast<int>(std::min<double>(calls, kMaxCallsPerGraph))));
        return shortest();
    }

    Result<std::vector<double>> burst(int samples, int calls_per_sample) override {
        if (calls_per_sample != calls_) OPGAUGE_TRY(capture(calls_per_sample));
        return replays(samples);
    }

    TimerNotes notes() const override { return notes_; }

  private:
    Result<void> capture(int calls) {
        if (!runtime_.can_capture()) notes_.fault = CaptureFault::not_supported;
        auto graph = runtime_.capture(callable_, calls);
        if (!graph) {
            if (notes_.fault == CaptureFault::none) notes_.fault = CaptureFault::capture_error;
            return tl::unexpected<Error>(graph.error());
        }
        graph_ = std::move(*graph);
        calls_ = calls;
        if (graph_.nodes > 0) return {};
        // With a proof, work that went to another stream is told from no work at all.
        OPGAUGE_TRY_ASSIGN(const bool works, does_work([this] { callable_(runtime_.stream()); }));
        return fault(works && proof_.is_done ? CaptureFault::not_captured
                                             : CaptureFault::no_device_work);
    }

    // The replay must do what a call does.
    Result<void> prove() {
        if (!proof_.is_done) return {};
        Result<void> replayed;
        OPGAUGE_TRY_ASSIGN(const bool works,
                           does_work([&] { replayed = runtime_.replay(graph_); }));
        OPGAUGE_TRY(replayed);
        return works ? Result<void>{} : fault(CaptureFault::not_captured);
    }

    Result<bool> does_work(const std::function<void()>& act) {
        if (!proof_.is_done) return true;
        if (proof_.spoil) proof_.spoil(runtime_.stream());
        act();
        OPGAUGE_TRY(runtime_.synchronize());
        return proof_.is_done();
    }

    Result<void> fault(CaptureFault fault) {
        notes_.fault = fault;
        return fail(ErrorKind::failed,
                    fault == CaptureFault::no_device_work
                        ? "capturing the callable: it queued nothing on the stream it was given "
                          "(no_device_work); queue its work there, or use the host timer"
                        : "capturing the callable: its replay does not do the work (not_captured); "
                          "use the event timer");
    }

    Result<double> shortest() {
        OPGAUGE_TRY_ASSIGN(const auto values, replays(kEstimateReplays));
        return *std::min_element(values.begin(), values.end());
    }

    // All are queued at once with events between. A first one is not timed: it warms the graph, and
    // keeps the device busy until the host is ahead.
    Result<std::vector<double>> replays(int count) {
        OPGAUGE_TRY(runtime_.replay(graph_));
        const auto last = static_cast<std::size_t>(count);
        for (std::size_t i = 0; i < last; ++i) {
            OPGAUGE_TRY(runtime_.record(i));
            OPGAUGE_TRY(runtime_.replay(graph_));
        }
        OPGAUGE_TRY(runtime_.record(last));
        OPGAUGE_TRY(runtime_.wait_for(last));
        std::vector<double> values;
        for (std::size_t i = 0; i < last; ++i) {
            OPGAUGE_TRY_ASSIGN(const double replay_ns, runtime_.elapsed_ns(i, i + 1));
            values.push_back(replay_ns / calls_);
        }
        return values;
    }

    DeviceRuntime& runtime_;
    Proof proof_;
    Callable callable_;
    DeviceGraph graph_;
    int calls_ = 0;
    TimerNotes notes_;
};

}  // namespace

std::string_view name_of(CaptureFault fault) {
    switch (fault) {
        case CaptureFault::none:
            return "none";
        case CaptureFault::not_supported:
            return "not_supported";
        case CaptureFault::capture_error:
            return "capture_error";
        case CaptureFault::no_device_work:
            return "no_device_work";
        case CaptureFault::not_captured:
            return "not_captured";
    }
    return "unknown";
}

std::unique_ptr<Timer> make_graph_timer(DeviceRuntime& runtime, Proof proof) {
    return std::make_unique<GraphTimer>(runtime, std::move(proof));
}

}  // namespace opgauge::measure
