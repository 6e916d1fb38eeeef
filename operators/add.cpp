// SPDX-License-Identifier: Apache-2.0
// add: z = x + y, element by element. Base: a plain loop.
#include "operators/definitions.h"
#include "operators/tensor.h"

namespace opgauge::operators {
namespace {

std::vector<std::vector<std::int64_t>> sizes(Level level) {
    std::vector<std::vector<std::int64_t>> core = {{64, 512}, {128, 4096}, {1024, 2048}};
    if (level == Level::core) return core;
    core.insert(core.end(), {{16, 16}, {4096, 4096}});
    return core;
}

Json shapes(const Sizes& s) {
    return Json::array({s, s});
}

std::optional<Work> make(const std::vector<std::int64_t>& s, Dtype dtype) {
    const auto engine = std::make_shared<Engine>();
    const auto x = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto y = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto expected = std::make_shared<Tensor>(engine->engine, s, dtype);
    const auto actual = std::make_shared<Tensor>(engine->engine, s, dtype);
    x->fill(1);
    y->fill(2);
    const dnnl::binary::desc description(dnnl::algorithm::binary_add, x->descriptor(),
                                         y->descriptor(), actual->descriptor());
    const dnnl::binary::primitive_desc primitive(description, engine->engine, true);
    if (!primitive) return std::nullopt;
    Work work;
    work.bytes = 3.0 * static_cast<double>(x->bytes());
    work.flops = static_cast<double>(x->count());
    work.base = [x, y, expected] {
        for (std::size_t i = 0; i < x->count(); ++i) expected->set(i, x->get(i) + y->get(i));
    };
    finish_work(work, engine, dnnl::binary(primitive),
                {{DNNL_ARG_SRC_0, x->memory()},
                 {DNNL_ARG_SRC_1, y->memory()},
                 {DNNL_ARG_DST, actual->memory()}},
                expected, actual, {x, y});
    return work;
}

}  // namespace

Operator add_operator() {
    return {"add", sizes, shapes, make};
}

}  // namespace opgauge::operators
