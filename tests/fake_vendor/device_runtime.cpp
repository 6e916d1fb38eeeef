// SPDX-License-Identifier: Apache-2.0
// A driver with a virtual clock, under the names of two vendors (OPGAUGE_FAKE_HIP: the second). The
// host's time moves only by calls, the device's only by what is queued, so that tests know every
// sample. Tests script it through the fake_device_ functions (tests/support/fake_device.h).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kInvalidValue = 1;
[[maybe_unused]] constexpr int kInvalidDevice = 101;
constexpr int kNotReady = 600;
constexpr int kCaptureInvalidated = 901;

struct Event {
    double time_ns = 0;
};
struct Graph {
    std::vector<double> nodes_ns;
};

struct World {
    double host_ns = 0;     // the host's clock
    double device_ns = 0;   // when the stream will have done all that is queued
    double call_ns = 1000;  // what each call costs the host
    double flush_ns = 40'000;
    double replay_ns = 0;  // what the device needs to begin a replay
    bool ignore_replays = false;
    std::size_t flushed_bytes = 0;
    bool capturing = false;
    bool invalidated = false;
    Graph captured;
    std::string log;
};
World world;

void call(const char* what) {
    world.host_ns += world.call_ns;
    world.log += what;
    world.log += ' ';
}

void queue(double length_ns) {
    world.device_ns = std::max(world.host_ns, world.device_ns) + length_ns;
}

void launch(double length_ns) {
    if (world.capturing) {
        world.captured.nodes_ns.push_back(length_ns);
    } else {
        queue(length_ns);
    }
}

void wait() {
    world.host_ns = std::max(world.host_ns, world.device_ns);
}

}  // namespace

#ifdef OPGAUGE_FAKE_HIP
#define NAME(first, second) second
#else
#define NAME(first, second) first
#endif

extern "C" {

// --- the script
void fake_device_reset() {
    world = World();
}
void fake_device_set(const char* name, double value) {
    if (std::strcmp(name, "call_ns") == 0) world.call_ns = value;
    if (std::strcmp(name, "replay_ns") == 0) world.replay_ns = value;
    if (std::strcmp(name, "ignore_replays") == 0) world.ignore_replays = value != 0;
}
void fake_device_launch(double length_ns) {
    call("kernel");
    launch(length_ns);
}
void fake_device_host_work(double length_ns) {
    world.host_ns += length_ns;
}
// What no capture allows: a capture that is under way is spoilt.
void fake_device_synchronize() {
    call("synchronize");
    if (world.capturing) world.invalidated = true;
    wait();
}
double fake_device_host_now() {
    return world.host_ns;
}
double fake_device_flushed_bytes() {
    return static_cast<double>(world.flushed_bytes);
}
const char* fake_device_log() {
    return world.log.c_str();
}

// --- the vendor's library
int NAME(cuInit, hipInit)(unsigned) {
    return 0;
}
#ifdef OPGAUGE_FAKE_HIP
const char* hipGetErrorName(int code) {
    return code == kCaptureInvalidated ? "hipErrorStreamCaptureInvalidated" : "hipErrorUnknown";
}
int hipGetDeviceCount(int* count) {
    *count = 1;
    return 0;
}
int hipGetDevice(int* device) {
    *device = 0;
    return 0;
}
int hipSetDevice(int) {
    return 0;
}
#else
int cuGetErrorName(int code, const char** text) {
    *text = code == kCaptureInvalidated ? "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
            : code == kInvalidDevice    ? "CUDA_ERROR_INVALID_DEVICE"
                                        : nullptr;
    return *text != nullptr ? 0 : kInvalidValue;
}
int cuCtxGetCurrent(void** context) {
    *context = nullptr;
    return 0;
}
int cuCtxSetCurrent(void*) {
    return 0;
}
int cuCtxGetDevice(int* device) {
    *device = 0;
    return 0;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? 0 : kInvalidDevice;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &world;
    return 0;
}
#ifndef OPGAUGE_FAKE_BARE
int cuModuleLoadData(void** module, const void* image) {
    *module = &world;
    return std::strstr(static_cast<const char*>(image), "opgauge_hold") != nullptr ? 0
                                                                                   : kInvalidValue;
}
int cuModuleGetFunction(void** function, void*, const char*) {
    *function = &world;
    return 0;
}
// The hold's kernel is the only one that is loaded.
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void** parameters, void**) {
    call("hold");
    std::uint64_t length_ns = 0;
    std::memcpy(&length_ns, parameters[0], sizeof length_ns);
    queue(static_cast<double>(length_ns));
    return 0;
}
#endif
#endif
int NAME(cuDeviceGetAttribute, hipDeviceGetAttribute)(int* value, int attribute, int) {
    constexpr int kL2CacheSize = NAME(38, 19);
    *value = 50 << 20;
    return attribute == kL2CacheSize ? 0 : kInvalidValue;
}
int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void** stream, unsigned) {
    *stream = &world;
    return 0;
}
int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void*) {
    return 0;
}
int NAME(cuStreamSynchronize, hipStreamSynchronize)(void*) {
    call("wait_stream");
    wait();
    return 0;
}
int NAME(cuEventCreate, hipEventCreateWithFlags)(void** event, unsigned) {
    *event = new Event();
    return 0;
}
int NAME(cuEventDestroy_v2, hipEventDestroy)(void* event) {
    delete static_cast<Event*>(event);
    return 0;
}
int NAME(cuEventRecord, hipEventRecord)(void* event, void*) {
    call("record");
    queue(0);
    static_cast<Event*>(event)->time_ns = world.device_ns;
    return 0;
}
int NAME(cuEventQuery, hipEventQuery)(void* event) {
    call("query");
    return static_cast<Event*>(event)->time_ns <= world.host_ns ? 0 : kNotReady;
}
int NAME(cuEventSynchronize, hipEventSynchronize)(void* event) {
    call("wait_event");
    world.host_ns = std::max(world.host_ns, static_cast<Event*>(event)->time_ns);
    return 0;
}
#ifndef OPGAUGE_FAKE_OLD
int NAME(cuEventElapsedTime, hipEventElapsedTime)(float* milliseconds, void* from, void* to) {
    *milliseconds = static_cast<float>(
        (static_cast<Event*>(to)->time_ns - static_cast<Event*>(from)->time_ns) / 1e6);
    return 0;
}
#endif
int NAME(cuMemAlloc_v2, hipMalloc)(std::uintptr_t* address, std::size_t) {
    *address = 4096;
    return 0;
}
int NAME(cuMemFree_v2, hipFree)(std::uintptr_t) {
    return 0;
}
int NAME(cuMemsetD8Async, hipMemsetD8Async)(std::uintptr_t, unsigned char, std::size_t bytes,
                                            void*) {
    call("flush");
    world.flushed_bytes = bytes;
    queue(world.flush_ns);
    return 0;
}
#ifndef OPGAUGE_FAKE_BARE
int NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void*, int) {
    world.capturing = true;
    world.invalidated = false;
    world.captured = Graph();
    return 0;
}
int NAME(cuStreamEndCapture, hipStreamEndCapture)(void*, void** graph) {
    world.capturing = false;
    if (world.invalidated) return kCaptureInvalidated;
    *graph = new Graph(std::exchange(world.captured, Graph()));
    return 0;
}
int NAME(cuGraphGetNodes, hipGraphGetNodes)(void* graph, void**, std::size_t* count) {
    *count = static_cast<Graph*>(graph)->nodes_ns.size();
    return 0;
}
int NAME(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void** executable, void* graph,
                                                                    unsigned long long) {
    *executable = new Graph(*static_cast<Graph*>(graph));
    return 0;
}
int NAME(cuGraphLaunch, hipGraphLaunch)(void* executable, void*) {
    call("replay");
    queue(world.replay_ns);
    if (world.ignore_replays) return 0;
    for (const double length_ns : static_cast<Graph*>(executable)->nodes_ns) queue(length_ns);
    return 0;
}
int NAME(cuGraphDestroy, hipGraphDestroy)(void* graph) {
    delete static_cast<Graph*>(graph);
    return 0;
}
int NAME(cuGraphExecDestroy, hipGraphExecDestroy)(void* executable) {
    delete static_cast<Graph*>(executable);
    return 0;
}
#endif

}  // extern "C"
