// SPDX-License-Identifier: Apache-2.0
// mm: C[m,n] = A[m,k] B[k,n]. Base: OpenBLAS sgemm (bfloat16: on inputs widened to float32).
#include "operators/definitions.h"
#include "operators/tensor.h"

#include <cblas.h>

namespace opgauge::operators {
namespace {

// Projections of small transformers at a few tokens, and a square one.
std::vector<std::vector<std::int64_t>> sizes(Level level) {
    std::vector<std::vector<std::int64_t>> core = {
        {384, 384, 384}, {16, 2048, 2048}, {128, 3072, 768}};
    if (level == Level::core) return core;
    core.insert(core.end(), {{1, 4096, 4096}, {512, 768, 768}, {256, 1024, 1024}});
    return core;
}

Json shapes(const Sizes& s) {
    return {{s[0], s[2]}, {s[2], s[1]}};
}

void sgemm(const std::vector<std::int64_t>& s, const float* a, const float* b, float* c) {
    const auto m = static_cast<int>(s[0]);
    const auto n = static_cast<int>(s[1]);
    const auto k = static_cast<int>(s[2]);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
}

std::optional<Work> make(const std::vector<std::int64_t>& s, Dtype dtype) {
    const auto engine = std::make_shared<Engine>();
    const auto a = std::make_shared<Tensor>(engine->engine, std::vector{s[0], s[2]}, dtype);
    const auto b = std::make_shared<Tensor>(engine->engine, std::vector{s[2], s[1]}, dtype);
    const auto expected = std::make_shared<Tensor>(engine->engine, std::vector{s[0], s[1]}, dtype);
    const auto actual = std::make_shared<Tensor>(engine->engine, std::vector{s[0], s[1]}, dtype);
    a->fill(1);
    b->fill(2);
    const dnnl::matmul::desc description(a->descriptor(), b->descriptor(), actual->descriptor());
    const dnnl::matmul::primitive_desc primitive(description, engine->engine, true);
    if (!primitive) return std::nullopt;
    Work work;
    work.reduction = static_cast<std::size_t>(s[2]);
    work.bytes = static_cast<double>(a->bytes() + b->bytes() + actual->bytes());
    work.flops =
        2.0 * static_cast<double>(s[0]) * static_cast<double>(s[1]) * static_cast<double>(s[2]);
    work.base = [s, a, b, expected] {
        if (a->dtype() == Dtype::float32) {
            sgemm(s, a->floats(), b->floats(), expected->floats());
            return;
        }
        const auto wide_a = a->values();
        const auto wide_b = b->values();
        std::vector<float> wide_c(expected->count());
        sgemm(s, wide_a.data(), wide_b.data(), wide_c.data());
        for (std::size_t i = 0; i < wide_c.size(); ++i) expected->set(i, wide_c[i]);
    };
    finish_work(work, engine, dnnl::matmul(primitive),
                {{DNNL_ARG_SRC, a->memory()},
                 {DNNL_ARG_WEIGHTS, b->memory()},
                 {DNNL_ARG_DST, actual->memory()}},
                expected, actual, {a, b});
    return work;
}

}  // namespace

Operator mm_operator() {
    return {"mm", sizes, shapes, make};
}

}  // namespace opgauge::operators
