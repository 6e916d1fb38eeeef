// SPDX-License-Identifier: Apache-2.0
// layer_norm over the last axis without scale and shift. Base: plain loops, two passes.
#include "operators/definitions.h"
#include "operators/tensor.h"

#include <cmath>

namespace opgauge::operators {
namespace {

constexpr float kEpsilon = 1e-5F;

std::vector<std::vector<std::int64_t>> sizes(Level level) {
    std::vector<std::vector<std::int64_t>> core = {{64, 768}, {256, 1024}, {512, 4096}};
    if (level == Level::core) return core;
    core.insert(core.end(), {{1, 8192}, {4096, 768}});
    return core;
}

void plain(const Tensor& x, Tensor& y, std::size_t width) {
    const auto n = static_cast<float>(width);
    for (std::size_t begin = 0; begin < x.count(); begin += width) {
        float mean = 0;
        for (std::size_t i = 0; i < width; ++i) mean += x.get(begin + i);
        mean /= n;
        float variance = 0;
        for (std::size_t i = 0; i < width; ++i) {
            const float off = x.get(begin + i) - mean;
            variance += off * off;
        }
        const float scale = 1.0F / std::sqrt(variance / n + kEpsilon);
        for (std::size_t i = 0; i < width; ++i) y.set(begin + i, (x.get(begin + i) - mean) * scale);
    }
}

std::optional<Work> make(const std::vector<std::int64_t>& s, Dtype dtype) {
    const auto engine = std::make_shared<Engine>();
    const auto x = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto expected = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto actual = std::make_shared<Tensor>(engine->engine, s, dtype);
    x->fill(5);
    const dnnl::layer_normalization_forward::desc description(dnnl::prop_kind::forward_inference,
                                                              x->descriptor(), kEpsilon,
                                                              dnnl::normalization_flags::none);
    const dnnl::layer_normalization_forward::primitive_desc primitive(description, engine->engine,
                                                                      true);
    if (!primitive) return std::nullopt;
    const auto width = static_cast<std::size_t>(s[1]);
    Work work;
    work.reduction = width;
    work.bytes = 2.0 * static_cast<double>(x->bytes());
    work.flops = 8.0 * static_cast<double>(x->count());
    work.base = [x, expected, width] { plain(*x, *expected, width); };
    finish_work(work, engine, dnnl::layer_normalization_forward(primitive),
                {{DNNL_ARG_SRC, x->memory()}, {DNNL_ARG_DST, actual->memory()}}, expected, actual,
                {x});
    return work;
}

}  // namespace

Operator layer_norm_operator() {
    return {"layer_norm", sizes, one_input, make};
}

}  // namespace opgauge::operators
