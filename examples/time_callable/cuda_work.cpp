// SPDX-License-Identifier: Apache-2.0
// The driver's functions are declared here and taken by name: no SDK is needed to build or to run.
#include "work.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

constexpr unsigned kLength = 1U << 20U;
constexpr unsigned kThreads = 256;
constexpr std::size_t kBytes = kLength * sizeof(float);

constexpr const char* kKernel = R"(
.version 6.0
.target sm_52
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum)
{
    .reg .b32 %thread, %block, %size;
    .reg .b64 %at, %p, %q, %r;
    .reg .f32 %x, %y;
    mov.u32 %thread, %tid.x;
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mad.lo.u32 %thread, %block, %size, %thread;
    mul.wide.u32 %at, %thread, 4;
    ld.param.u64 %p, [a];
    ld.param.u64 %q, [b];
    ld.param.u64 %r, [sum];
    add.u64 %p, %p, %at;
    add.u64 %q, %q, %at;
    add.u64 %r, %r, %at;
    ld.global.f32 %x, [%p];
    ld.global.f32 %y, [%q];
    add.f32 %x, %x, %y;
    st.global.f32 [%r], %x;
    ret;
}
)";

struct Driver {
    int (*module_load)(void** module, const void* image);
    int (*module_function)(void** function, void* module, const char* name);
    int (*allocate)(std::uint64_t* address, std::size_t bytes);
    int (*fill)(std::uint64_t address, unsigned value, std::size_t count, void* stream);
    int (*copy_to_host)(void* to, std::uint64_t from, std::size_t bytes);
    int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void* stream, void** parameters, void** extra);
};

// Lives as long as the process: an example frees nothing on the device.
struct Vectors {
    Driver driver{};
    void* add = nullptr;
    std::uint64_t a = 0, b = 0, sum = 0;
};

template <typename F>
bool take(void* library, F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(library, name));
    return function != nullptr;
}

bool load(Driver& driver) {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && take(library, driver.module_load, "cuModuleLoadData") &&
           take(library, driver.module_function, "cuModuleGetFunction") &&
           take(library, driver.allocate, "cuMemAlloc_v2") &&
           take(library, driver.fill, "cuMemsetD32Async") &&
           take(library, driver.copy_to_host, "cuMemcpyDtoH_v2") &&
           take(library, driver.launch, "cuLaunchKernel");
}

constexpr unsigned kOneAndAHalf = 0x3FC00000;  // as the bits of a float
constexpr unsigned kTwoAndAHalf = 0x40200000;

// The vendor's code of the first call that failed, else 0.
int make(Vectors& vectors) {
    const Driver& driver = vectors.driver;
    void* module = nullptr;
    int code = driver.module_load(&module, kKernel);
    if (code == 0) code = driver.module_function(&vectors.add, module, "add");
    for (std::uint64_t* address : {&vectors.a, &vectors.b, &vectors.sum}) {
        if (code == 0) code = driver.allocate(address, kBytes);
    }
    if (code == 0) code = driver.fill(vectors.a, kOneAndAHalf, kLength, nullptr);
    if (code == 0) code = driver.fill(vectors.b, kTwoAndAHalf, kLength, nullptr);
    return code;
}

void launch(Vectors& vectors, void* stream) {
    void* parameters[] = {&vectors.a, &vectors.b, &vectors.sum};
    vectors.driver.launch(vectors.add, kLength / kThreads, 1, 1, kThreads, 1, 1, 0, stream,
                          parameters, nullptr);
}

bool is_done(const Vectors& vectors) {
    std::vector<float> sum(kLength);
    if (vectors.driver.copy_to_host(sum.data(), vectors.sum, kBytes) != 0) return false;
    return std::all_of(sum.begin(), sum.end(), [](float value) { return value == 4.0F; });
}

}  // namespace

opgauge::Result<Work> cuda_work() {
    auto vectors = std::make_shared<Vectors>();
    if (!load(vectors->driver)) {
        return opgauge::fail(opgauge::ErrorKind::environment,
                             "libcuda.so.1 is not there or lacks a symbol; update the driver");
    }
    if (const int code = make(*vectors); code != 0) {
        return opgauge::fail(
            opgauge::ErrorKind::failed,
            "making the vectors and the kernel: the driver returned " + std::to_string(code));
    }
    Work work;
    work.what = "sum of two vectors of 1048576 floats by a kernel";
    work.callable = [vectors](void* stream) { launch(*vectors, stream); };
    work.proof.spoil = [vectors](void* stream) {
        vectors->driver.fill(vectors->sum, 0, kLength, stream);
    };
    work.proof.is_done = [vectors] { return is_done(*vectors); };
    return work;
}
