// SPDX-License-Identifier: Apache-2.0
#include "operators/tensor.h"

#include <algorithm>
#include <limits>

namespace opgauge::operators {
namespace {

dnnl::memory::dims row_major_strides(const std::vector<std::int64_t>& sizes) {
    dnnl::memory::dims strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    return strides;
}

}  // namespace

Tensor::Tensor(const dnnl::engine& engine, std::vector<std::int64_t> sizes, Dtype dtype)
    : dtype_(dtype) {
    for (const std::int64_t size : sizes) count_ *= static_cast<std::size_t>(size);
    const auto type =
        dtype == Dtype::float32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
    descriptor_ = dnnl::memory::desc(sizes, type, row_major_strides(sizes));
    void* data = nullptr;
    if (dtype == Dtype::float32) {
        floats_.resize(count_);
        data = floats_.data();
    } else {
        halves_.resize(count_);
        data = halves_.data();
    }
    memory_ = dnnl::memory(descriptor_, engine, data);
}

std::size_t Tensor::bytes() const {
    return count_ * (dtype_ == Dtype::float32 ? sizeof(float) : sizeof(std::uint16_t));
}

void Tensor::fill(std::uint64_t seed) {
    const auto values = random_values(count_, seed);
    for (std::size_t i = 0; i < count_; ++i) set(i, values[i]);
}

void Tensor::poison() {
    for (std::size_t i = 0; i < count_; ++i) set(i, std::numeric_limits<float>::quiet_NaN());
}

std::vector<float> Tensor::values() const {
    std::vector<float> result(count_);
    for (std::size_t i = 0; i < count_; ++i) result[i] = get(i);
    return result;
}

void finish_work(Work& work, const std::shared_ptr<Engine>& engine,
                 const dnnl::primitive& primitive, std::unordered_map<int, dnnl::memory> arguments,
                 const std::shared_ptr<Tensor>& expected, const std::shared_ptr<Tensor>& actual,
                 std::vector<std::shared_ptr<Tensor>> inputs) {
    work.candidate = [engine, primitive, arguments = std::move(arguments), actual,
                      inputs = std::move(inputs)] {
        primitive.execute(engine->stream, arguments);
        engine->stream.wait();
    };
    work.base_output = [expected] { return expected->values(); };
    work.candidate_output = [actual] { return actual->values(); };
    work.poison = [expected, actual] {
        expected->poison();
        actual->poison();
    };
}

}  // namespace opgauge::operators
