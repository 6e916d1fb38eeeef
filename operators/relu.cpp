// SPDX-License-Identifier: Apache-2.0
// relu: y = max(x, 0). Base: a plain loop.
#include "operators/definitions.h"
#include "operators/tensor.h"

#include <algorithm>

namespace opgauge::operators {
namespace {

std::vector<std::vector<std::int64_t>> sizes(Level level) {
    std::vector<std::vector<std::int64_t>> core = {{64, 512}, {128, 3072}, {1024, 2048}};
    if (level == Level::core) return core;
    core.insert(core.end(), {{16, 16}, {4096, 4096}});
    return core;
}

std::optional<Work> make(const std::vector<std::int64_t>& s, Dtype dtype) {
    const auto engine = std::make_shared<Engine>();
    const auto x = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto expected = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto actual = std::make_shared<Tensor>(engine->engine, s, dtype);
    x->fill(3);
    const dnnl::eltwise_forward::desc description(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu, x->descriptor(), 0.0F);
    const dnnl::eltwise_forward::primitive_desc primitive(description, engine->engine, true);
    if (!primitive) return std::nullopt;
    Work work;
    work.bytes = 2.0 * static_cast<double>(x->bytes());
    work.flops = static_cast<double>(x->count());
    work.base = [x, expected] {
        for (std::size_t i = 0; i < x->count(); ++i) expected->set(i, std::max(x->get(i), 0.0F));
    };
    finish_work(work, engine, dnnl::eltwise_forward(primitive),
                {{DNNL_ARG_SRC, x->memory()}, {DNNL_ARG_DST, actual->memory()}}, expected, actual,
                {x});
    return work;
}

}  // namespace

Operator relu_operator() {
    return {"relu", sizes, one_input, make};
}

}  // namespace opgauge::operators
