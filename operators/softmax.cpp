// SPDX-License-Identifier: Apache-2.0
// softmax over the last axis, with the row's maximum taken off first. Base: plain loops.
#include "operators/definitions.h"
#include "operators/tensor.h"

#include <algorithm>
#include <cmath>

namespace opgauge::operators {
namespace {

std::vector<std::vector<std::int64_t>> sizes(Level level) {
    std::vector<std::vector<std::int64_t>> core = {{64, 256}, {256, 1024}, {512, 2048}};
    if (level == Level::core) return core;
    core.insert(core.end(), {{8, 32000}, {4096, 512}});
    return core;
}

void plain(const Tensor& x, Tensor& y, std::size_t width) {
    std::vector<float> row(width);
    for (std::size_t begin = 0; begin < x.count(); begin += width) {
        float largest = x.get(begin);
        for (std::size_t i = 1; i < width; ++i) largest = std::max(largest, x.get(begin + i));
        float sum = 0;
        for (std::size_t i = 0; i < width; ++i) {
            row[i] = std::exp(x.get(begin + i) - largest);
            sum += row[i];
        }
        for (std::size_t i = 0; i < width; ++i) y.set(begin + i, row[i] / sum);
    }
}

std::optional<Work> make(const std::vector<std::int64_t>& s, Dtype dtype) {
    const auto engine = std::make_shared<Engine>();
    const auto x = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto expected = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto actual = std::make_shared<Tensor>(engine->engine, s, dtype);
    x->fill(4);
    const dnnl::softmax_v2_forward::desc description(dnnl::prop_kind::forward_inference,
                                                     dnnl::algorithm::softmax_accurate,
                                                     x->descriptor(), actual->descriptor(), 1);
    const dnnl::softmax_v2_forward::primitive_desc primitive(description, engine->engine, true);
    if (!primitive) return std::nullopt;
    const auto width = static_cast<std::size_t>(s[1]);
    Work work;
    work.reduction = width;
    work.term = 1.0 / static_cast<double>(width);
    work.bytes = 2.0 * static_cast<double>(x->bytes());
    work.flops = 4.0 * static_cast<double>(x->count());
    work.base = [x, expected, width] { plain(*x, *expected, width); };
    finish_work(work, engine, dnnl::softmax_v2_forward(primitive),
                {{DNNL_ARG_SRC, x->memory()}, {DNNL_ARG_DST, actual->memory()}}, expected, actual,
                {x});
    return work;
}

}  // namespace

Operator softmax_operator() {
    return {"softmax", sizes, one_input, make};
}

}  // namespace opgauge::operators
