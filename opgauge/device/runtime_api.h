// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace opgauge {

constexpr int kRuntimeSuccess = 0;
constexpr int kRuntimeNotReady = 600;  // the same number for every vendor below

// The calls that timing needs, as one vendor's library exports them. The vendors' signatures agree
// but for names; handles are pointers, a device address is a number of the pointer's size. Filled
// by a vendor's file, used by DeviceRuntime only.
struct RuntimeApi {
    std::string backend;
    std::string library;       // as it was opened
    std::size_t l2_bytes = 0;  // of the device that is current; 0: unknown

    int (*stream_create)(void** stream, unsigned flags) = nullptr;
    int (*stream_destroy)(void* stream) = nullptr;
    int (*stream_synchronize)(void* stream) = nullptr;
    int (*event_create)(void** event, unsigned flags) = nullptr;
    int (*event_destroy)(void* event) = nullptr;
    int (*event_record)(void* event, void* stream) = nullptr;
    int (*event_query)(void* event) = nullptr;
    int (*event_synchronize)(void* event) = nullptr;
    int (*event_elapsed)(float* milliseconds, void* from, void* to) = nullptr;
    int (*memory_allocate)(std::uintptr_t* address, std::size_t bytes) = nullptr;
    int (*memory_free)(std::uintptr_t address) = nullptr;
    int (*memory_set)(std::uintptr_t address, unsigned char value, std::size_t bytes,
                      void* stream) = nullptr;

    // Optional: null, all of them, where the library is too old to capture.
    int (*capture_begin)(void* stream, int mode) = nullptr;
    int (*capture_end)(void* stream, void** graph) = nullptr;
    int (*graph_nodes)(void* graph, void** nodes, std::size_t* count) = nullptr;
    int (*graph_instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
    int (*graph_launch)(void* executable, void* stream) = nullptr;
    int (*graph_destroy)(void* graph) = nullptr;
    int (*graph_executable_destroy)(void* executable) = nullptr;

    // Queues work that keeps the stream busy for so many nanoseconds; empty: there is none, and
    // `no_hold` says why.
    std::function<int(void* stream, std::uint64_t length_ns)> launch_hold;
    std::string no_hold;
    std::function<std::string(int code)> error_text;

    bool can_capture() const {
        return capture_begin != nullptr && capture_end != nullptr && graph_nodes != nullptr &&
               graph_instantiate != nullptr && graph_launch != nullptr &&
               graph_destroy != nullptr && graph_executable_destroy != nullptr;
    }
};

// One function a vendor. Opens the library and makes a device current for the calling thread: the
// one that is, else the one with this index. Kind environment: no library, too old, no device.
Result<RuntimeApi> open_cuda_runtime(int device_index, const Environment& environment);
Result<RuntimeApi> open_rocm_runtime(int device_index, const Environment& environment);

}  // namespace opgauge
