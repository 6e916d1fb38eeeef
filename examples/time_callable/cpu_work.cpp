// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t kLength = 4096;

struct Vectors {
    std::vector<float> a = std::vector<float>(kLength, 1.5F);
    std::vector<float> b = std::vector<float>(kLength, 2.5F);
    std::vector<float> sum = std::vector<float>(kLength);
};

}  // namespace

Work cpu_work() {
    auto vectors = std::make_shared<Vectors>();
    Work work;
    work.what = "sum of two vectors of 4096 floats on the host";
    work.callable = [vectors](void*) {
        for (std::size_t i = 0; i < kLength; ++i) vectors->sum[i] = vectors->a[i] + vectors->b[i];
    };
    work.proof.spoil = [vectors](void*) {
        std::fill(vectors->sum.begin(), vectors->sum.end(), 0.0F);
    };
    work.proof.is_done = [vectors] {
        return std::all_of(vectors->sum.begin(), vectors->sum.end(),
                           [](float value) { return value == 4.0F; });
    };
    return work;
}
