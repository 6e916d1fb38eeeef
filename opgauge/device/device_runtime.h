// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opgauge {

struct RuntimeApi;

// Calls that were captured and can be replayed. Keeps the runtime's table alive, not its stream.
struct DeviceGraph {
    std::size_t nodes = 0;             // of all calls together; 0: nothing was captured
    std::shared_ptr<void> executable;  // null where nothing was captured
};

// What timing needs of a vendor's runtime: one stream, events, a hold and graphs. The library is
// opened at run time and stays loaded. The caller owns it; the timers of opgauge/measure use it.
// All calls come from the thread that opened it, on which the device is current.
class DeviceRuntime {
  public:
    // `backend` is a backend's name (docs/timer_library.md lists those that have one). Uses the
    // device that is current, else the one with this index.
    static Result<std::unique_ptr<DeviceRuntime>> open(std::string_view backend, int device_index,
                                                       const Environment& environment);
    DeviceRuntime(const DeviceRuntime&) = delete;
    DeviceRuntime& operator=(const DeviceRuntime&) = delete;
    ~DeviceRuntime();

    const std::string& backend() const;
    const std::string& library() const;
    std::size_t l2_bytes() const;
    // The vendor's own stream handle. It waits for the default stream's work and the other way
    // round, so that a callable that forgets the stream is timed or fails to capture, not missed.
    void* stream() const { return stream_; }

    bool can_capture() const;
    bool can_hold() const;
    const std::string& why_no_hold() const;

    // Queues work that keeps the stream busy for about so long. A kernel of fixed length, not a
    // wait for a word of the host: a callable that synchronises must end, not hang.
    Result<void> hold(double length_ns);
    // Queues a write of a buffer of twice the L2 cache.
    Result<void> flush_cache();

    // Events are numbered by the caller and made on demand.
    Result<void> record(std::size_t event);
    Result<bool> has_passed(std::size_t event);
    Result<void> wait_for(std::size_t event);
    Result<double> elapsed_ns(std::size_t from, std::size_t to);
    Result<void> synchronize();

    // Captures so many calls in a row. An error leaves the stream usable, as far as the vendor
    // does.
    Result<DeviceGraph> capture(const std::function<void(void* stream)>& callable, int calls);
    Result<void> replay(const DeviceGraph& graph);

  private:
    explicit DeviceRuntime(std::shared_ptr<const RuntimeApi> api) : api_(std::move(api)) {}
    Result<void> check(int code, std::string_view what) const;
    Result<DeviceGraph> instantiate(const std::shared_ptr<void>& graph);

    std::shared_ptr<const RuntimeApi> api_;
    void* stream_ = nullptr;
    std::vector<void*> events_;
    std::uintptr_t flush_buffer_ = 0;
};

}  // namespace opgauge
