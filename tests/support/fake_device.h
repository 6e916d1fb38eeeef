// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/shared_library.h"
#include "opgauge/device/device_runtime.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace opgauge::testing {

// The stand-in driver of tests/fake_vendor/device_runtime.cpp: its script, and a runtime opened on
// it. The loader gives both the same library, so both see one virtual clock.
class FakeDevice {
  public:
    explicit FakeDevice(std::string backend = "cuda", const std::string& variant = "now")
        : backend_(std::move(backend)),
          folder_(std::string(OPGAUGE_BINARY_DIR "/tests/fake_vendor/") + variant),
          library_(std::move(*SharedLibrary::open(std::vector<std::string>{
              folder_ + (backend_ == "cuda" ? "/libcuda.so.1" : "/libamdhip64.so")}))) {
        script<void()>("fake_device_reset")();
    }

    Result<std::unique_ptr<DeviceRuntime>> open(int device_index = 0) const {
        Environment environment;
        environment.set("OPGAUGE_LIBRARY_PATH", folder_);
        return DeviceRuntime::open(backend_, device_index, environment);
    }
    void set(const char* name, double value) {
        script<void(const char*, double)>("fake_device_set")(name, value);
    }
    // One kernel on the stream; captured where the stream is.
    void launch(double length_ns) { script<void(double)>("fake_device_launch")(length_ns); }
    void host_work(double length_ns) { script<void(double)>("fake_device_host_work")(length_ns); }
    void synchronize() { script<void()>("fake_device_synchronize")(); }
    std::chrono::steady_clock::time_point now() const {
        const auto whole = static_cast<long long>(script<double()>("fake_device_host_now")());
        return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(whole));
    }
    double flushed_bytes() const { return script<double()>("fake_device_flushed_bytes")(); }
    // Each call that the host made, in order, with a space after each.
    std::string log() const { return script<const char*()>("fake_device_log")(); }

  private:
    template <typename F>
    F* script(const char* name) const {
        return library_.symbol<F>(name);
    }

    std::string backend_;
    std::string folder_;
    SharedLibrary library_;
};

}  // namespace opgauge::testing
