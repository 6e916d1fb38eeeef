// SPDX-License-Identifier: Apache-2.0
// sum over the last axis. Base: a plain loop with a float64 accumulator.
#include "operators/definitions.h"
#include "operators/tensor.h"

namespace opgauge::operators {
namespace {

std::vector<std::vector<std::int64_t>> sizes(Level level) {
    std::vector<std::vector<std::int64_t>> core = {{64, 1024}, {256, 4096}, {1024, 2048}};
    if (level == Level::core) return core;
    core.insert(core.end(), {{1, 1048576}, {4096, 1024}});
    return core;
}

std::optional<Work> make(const std::vector<std::int64_t>& s, Dtype dtype) {
    const auto engine = std::make_shared<Engine>();
    const std::vector<std::int64_t> out_sizes = {s[0], 1};
    const auto x = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto expected = std::make_shared<Tensor>(engine->engine, out_sizes, dtype);
    const auto actual = std::make_shared<Tensor>(engine->engine, out_sizes, dtype);
    x->fill(6);
    const dnnl::reduction::desc description(dnnl::algorithm::reduction_sum, x->descriptor(),
                                            actual->descriptor(), 0.0F, 0.0F);
    const dnnl::reduction::primitive_desc primitive(description, engine->engine, true);
    if (!primitive) return std::nullopt;
    const auto width = static_cast<std::size_t>(s[1]);
    Work work;
    work.reduction = width;
    work.bytes = static_cast<double>(x->bytes() + actual->bytes());
    work.flops = static_cast<double>(x->count());
    work.base = [x, expected, width] {
        for (std::size_t row = 0; row < expected->count(); ++row) {
            double sum = 0;
            for (std::size_t i = 0; i < width; ++i)
                sum += static_cast<double>(x->get(row * width + i));
            expected->set(row, static_cast<float>(sum));
        }
    };
    finish_work(work, engine, dnnl::reduction(primitive),
                {{DNNL_ARG_SRC, x->memory()}, {DNNL_ARG_DST, actual->memory()}}, expected, actual,
                {x});
    return work;
}

}  // namespace

Operator sum_operator() {
    return {"sum", sizes, one_input, make};
}

}  // namespace opgauge::operators
