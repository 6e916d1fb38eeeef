// SPDX-License-Identifier: Apache-2.0
// Times one callable: on the host, or with --cuda or --hip work of a device, by graph and by event.
#include "work.h"

#include <opgauge/measure/measure.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

namespace timing = opgauge::measure;

void print(const timing::Measurement& measured) {
    const auto& summary = measured.summary;
    std::printf(
        "timer=%s median_ns=%.1f quartiles_ns=%.1f..%.1f samples=%zu calls_per_sample=%d "
        "precision=%.2f%% stopped=%s",
        measured.timer.c_str(), summary.median, summary.lower_quartile, summary.upper_quartile,
        summary.count, measured.calls_per_sample, 100 * summary.relative_precision().value_or(1),
        measured.stopped.c_str());
    if (!measured.fallback.empty()) std::printf(" fallback=%s", measured.fallback.c_str());
    for (const auto& flag : measured.flags) std::printf(" %s", flag.c_str());
    std::printf("\n");
}

int fail(const opgauge::Error& error) {
    std::fprintf(stderr, "time_callable: %s\n", error.message.c_str());
    return 1;
}

// Times with each timer, then says whether the last calls did their work.
int time_with(const Work& work, opgauge::DeviceRuntime* runtime,
              const std::vector<timing::TimerKind>& timers) {
    std::printf("%s\n", work.what.c_str());
    timing::Options options;
    options.runtime = runtime;
    options.proof = work.proof;
    for (const auto timer : timers) {
        options.timer = timer;
        work.proof.spoil(runtime != nullptr ? runtime->stream() : nullptr);
        const auto measured = timing::measure(work.callable, options);
        if (!measured) return fail(measured.error());
        print(*measured);
    }
    const bool done = work.proof.is_done();
    std::printf("result=%s\n", done ? "right" : "wrong");
    return done ? 0 : 1;
}

int time_on_device(const char* backend, opgauge::Result<Work> (*make_work)()) {
    const auto runtime = timing::open_runtime(backend);
    if (!runtime) return fail(runtime.error());
    const auto work = make_work();
    if (!work) return fail(work.error());
    return time_with(*work, runtime->get(), {timing::TimerKind::graph, timing::TimerKind::event});
}

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "--cpu";
    if (argc <= 2) {
        if (mode == "--cpu") return time_with(cpu_work(), nullptr, {timing::TimerKind::host});
        if (mode == "--cuda") return time_on_device("cuda", cuda_work);
        if (mode == "--hip") return time_on_device("rocm", hip_work);
    }
    std::fprintf(stderr, "usage: time_callable [--cpu|--cuda|--hip]\n");
    return 2;
}
