// SPDX-License-Identifier: Apache-2.0
// A fill and not a kernel: a kernel would have to be compiled for each architecture. Not yet run on
// a device.
#include "work.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t kLength = std::size_t{1} << 20U;
constexpr int kValue = 0x5EED;

struct Hip {
    int (*allocate)(void** address, std::size_t bytes);
    int (*fill)(void* address, int value, std::size_t count, void* stream);
    int (*copy_to_host)(void* to, void* from, std::size_t bytes);
};

// Lives as long as the process: an example frees nothing on the device.
struct Vector {
    Hip hip{};
    void* address = nullptr;
};

template <typename F>
bool take(void* library, F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(library, name));
    return function != nullptr;
}

bool load(Hip& hip) {
    void* library = nullptr;
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"}) {
        if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library != nullptr && take(library, hip.allocate, "hipMalloc") &&
           take(library, hip.fill, "hipMemsetD32Async") &&
           take(library, hip.copy_to_host, "hipMemcpyDtoH");
}

bool is_done(const Vector& vector) {
    std::vector<int> values(kLength);
    if (vector.hip.copy_to_host(values.data(), vector.address, kLength * sizeof(int)) != 0) {
        return false;
    }
    return std::all_of(values.begin(), values.end(), [](int value) { return value == kValue; });
}

}  // namespace

opgauge::Result<Work> hip_work() {
    auto vector = std::make_shared<Vector>();
    if (!load(vector->hip)) {
        return opgauge::fail(opgauge::ErrorKind::environment,
                             "libamdhip64.so is not there or lacks a symbol; update ROCm");
    }
    if (const int code = vector->hip.allocate(&vector->address, kLength * sizeof(int)); code != 0) {
        return opgauge::fail(opgauge::ErrorKind::failed,
                             "making the vector: the runtime returned " + std::to_string(code));
    }
    Work work;
    work.what = "fill of a vector of 1048576 numbers on the device";
    work.callable = [vector](void* stream) {
        vector->hip.fill(vector->address, kValue, kLength, stream);
    };
    work.proof.spoil = [vector](void* stream) {
        vector->hip.fill(vector->address, 0, kLength, stream);
    };
    work.proof.is_done = [vector] { return is_done(*vector); };
    return work;
}
