// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/operator.h"

#include <dnnl.hpp>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace opgauge::operators {

// A dense row-major tensor that a oneDNN memory object and plain loops share.
class Tensor {
  public:
    Tensor(const dnnl::engine& engine, std::vector<std::int64_t> sizes, Dtype dtype);

    std::size_t count() const { return count_; }
    std::size_t bytes() const;
    void fill(std::uint64_t seed);
    void poison();
    std::vector<float> values() const;
    float get(std::size_t i) const {
        return dtype_ == Dtype::float32 ? floats_[i] : from_bfloat16(halves_[i]);
    }
    void set(std::size_t i, float value) {
        if (dtype_ == Dtype::float32) {
            floats_[i] = value;
        } else {
            halves_[i] = to_bfloat16(value);
        }
    }
    float* floats() { return floats_.data(); }
    Dtype dtype() const { return dtype_; }
    dnnl::memory::desc descriptor() const { return descriptor_; }
    dnnl::memory& memory() { return memory_; }

  private:
    Dtype dtype_;
    std::size_t count_ = 1;
    std::vector<float> floats_;          // float32 only
    std::vector<std::uint16_t> halves_;  // bfloat16 only
    dnnl::memory::desc descriptor_;
    dnnl::memory memory_;
};

// What the oneDNN side of one piece of work needs to live as long as it.
struct Engine {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
};

// Fills what every operator has in common: the candidate's call, outputs and poison. `base` must
// already be set and write `expected`. `inputs` are kept alive: the arguments point into them.
void finish_work(Work& work, const std::shared_ptr<Engine>& engine,
                 const dnnl::primitive& primitive, std::unordered_map<int, dnnl::memory> arguments,
                 const std::shared_ptr<Tensor>& expected, const std::shared_ptr<Tensor>& actual,
                 std::vector<std::shared_ptr<Tensor>> inputs);

}  // namespace opgauge::operators
