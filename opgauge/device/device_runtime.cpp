// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/device_runtime.h"

#include "opgauge/device/runtime_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace opgauge {
namespace {

using Open = Result<RuntimeApi> (*)(int, const Environment&);
constexpr std::array<std::pair<std::string_view, Open>, 2> kRuntimes = {
    {{"cuda", open_cuda_runtime}, {"rocm", open_rocm_runtime}}};

// Only what this thread does can spoil its capture.
constexpr int kCaptureThreadLocal = 1;
// Where a vendor does not tell the size: larger than any cache known.
constexpr std::size_t kUnknownCacheBytes = std::size_t{256} << 20U;

// Ends a capture that the callable left by an exception, or the stream would stay in it.
class OpenCapture {
  public:
    OpenCapture(const RuntimeApi& api, void* stream) : api_(api), stream_(stream) {}
    OpenCapture(const OpenCapture&) = delete;
    OpenCapture& operator=(const OpenCapture&) = delete;
    ~OpenCapture() {
        void* graph = nullptr;
        if (open_) end(&graph);
        if (graph != nullptr) api_.graph_destroy(graph);
    }
    int end(void** graph) {
        open_ = false;
        return api_.capture_end(stream_, graph);
    }

  private:
    const RuntimeApi& api_;
    void* stream_;
    bool open_ = true;
};

}  // namespace

Result<std::unique_ptr<DeviceRuntime>> DeviceRuntime::open(std::string_view backend,
                                                           int device_index,
                                                           const Environment& environment) {
    const auto* const found =
        std::find_if(kRuntimes.begin(), kRuntimes.end(),
                     [&](const auto& runtime) { return runtime.first == backend; });
    if (found == kRuntimes.end()) {
        return fail(ErrorKind::usage, fmt::format("no runtime to time on is known for backend "
                                                  "'{}'; known: cuda, rocm",
                                                  backend));
    }
    OPGAUGE_TRY_ASSIGN(RuntimeApi api, found->second(device_index, environment));
    std::unique_ptr<DeviceRuntime> runtime(
        new DeviceRuntime(std::make_shared<const RuntimeApi>(std::move(api))));
    OPGAUGE_TRY(runtime->check(runtime->api_->stream_create(&runtime->stream_, 0), "a stream"));
    return runtime;
}

DeviceRuntime::~DeviceRuntime() {
    for (void* event : events_) api_->event_destroy(event);
    if (flush_buffer_ != 0) api_->memory_free(flush_buffer_);
    if (stream_ != nullptr) api_->stream_destroy(stream_);
}

const std::string& DeviceRuntime::backend() const {
    return api_->backend;
}
const std::string& DeviceRuntime::library() const {
    return api_->library;
}
std::size_t DeviceRuntime::l2_bytes() const {
    return api_->l2_bytes;
}
bool DeviceRuntime::can_capture() const {
    return api_->can_capture();
}
bool DeviceRuntime::can_hold() const {
    return static_cast<bool>(api_->launch_hold);
}
const std::string& DeviceRuntime::why_no_hold() const {
    return api_->no_hold;
}

Result<void> DeviceRuntime::check(int code, std::string_view what) const {
    if (code == kRuntimeSuccess) return {};
    return fail(ErrorKind::failed,
                fmt::format("{} refuses {}: {}", api_->library, what, api_->error_text(code)));
}

Result<void> DeviceRuntime::hold(double length_ns) {
    if (!can_hold()) return fail(ErrorKind::refused, "cannot hold the device: " + api_->no_hold);
    return check(api_->launch_hold(stream_, static_cast<std::uint64_t>(length_ns)),
                 "the kernel that holds the device");
}

Result<void> DeviceRuntime::flush_cache() {
    const std::size_t bytes = 2 * (api_->l2_bytes != 0 ? api_->l2_bytes : kUnknownCacheBytes);
    if (flush_buffer_ == 0) {
        OPGAUGE_TRY(check(api_->memory_allocate(&flush_buffer_, bytes),
                          fmt::format("{} bytes to flush the cache with", bytes)));
    }
    return check(api_->memory_set(flush_buffer_, 0, bytes, stream_), "a write of the flush buffer");
}

Result<void> DeviceRuntime::record(std::size_t event) {
    while (events_.size() <= event) {
        void* made = nullptr;
        OPGAUGE_TRY(check(api_->event_create(&made, 0), "an event"));
        events_.push_back(made);
    }
    return check(api_->event_record(events_[event], stream_), "to record an event");
}

Result<bool> DeviceRuntime::has_passed(std::size_t event) {
    const int code = api_->event_query(events_.at(event));
    if (code == kRuntimeNotReady) return false;
    OPGAUGE_TRY(check(code, "to query an event"));
    return true;
}

Result<void> DeviceRuntime::wait_for(std::size_t event) {
    return check(api_->event_synchronize(events_.at(event)), "to wait for an event");
}

Result<double> DeviceRuntime::elapsed_ns(std::size_t from, std::size_t to) {
    float milliseconds = 0;
    OPGAUGE_TRY(check(api_->event_elapsed(&milliseconds, events_.at(from), events_.at(to)),
                      "the time between two events"));
    return static_cast<double>(milliseconds) * 1e6;
}

Result<void> DeviceRuntime::synchronize() {
    return check(api_->stream_synchronize(stream_), "to wait for the stream");
}

Result<DeviceGraph> DeviceRuntime::capture(const std::function<void(void* stream)>& callable,
                                           int calls) {
    if (!can_capture()) {
        return fail(ErrorKind::refused,
                    fmt::format("{} cannot capture graphs; use the event timer", api_->library));
    }
    OPGAUGE_TRY(check(api_->capture_begin(stream_, kCaptureThreadLocal), "to begin a capture"));
    OpenCapture open(*api_, stream_);
    for (int i = 0; i < calls; ++i) callable(stream_);
    void* graph = nullptr;
    OPGAUGE_TRY(check(open.end(&graph), "to capture the callable"));
    return instantiate(std::shared_ptr<void>(graph, [api = api_](void* handle) {
        if (handle != nullptr) api->graph_destroy(handle);
    }));
}

Result<DeviceGraph> DeviceRuntime::instantiate(const std::shared_ptr<void>& graph) {
    DeviceGraph made;
    OPGAUGE_TRY(check(api_->graph_nodes(graph.get(), nullptr, &made.nodes), "a graph's size"));
    if (made.nodes == 0) return made;
    void* executable = nullptr;
    OPGAUGE_TRY(check(api_->graph_instantiate(&executable, graph.get(), 0),
                      fmt::format("to instantiate a graph of {} nodes", made.nodes)));
    made.executable = std::shared_ptr<void>(
        executable, [api = api_](void* handle) { api->graph_executable_destroy(handle); });
    return made;
}

Result<void> DeviceRuntime::replay(const DeviceGraph& graph) {
    return check(api_->graph_launch(graph.executable.get(), stream_), "to replay a graph");
}

}  // namespace opgauge
