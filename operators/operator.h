// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge::operators {

enum class Dtype { float32, bfloat16 };
std::string_view name_of(Dtype dtype);
std::optional<Dtype> dtype_named(std::string_view name);

// bfloat16 as its 16 bits; round to nearest even, NaN stays NaN.
std::uint16_t to_bfloat16(float value);
float from_bfloat16(std::uint16_t bits);

// One piece of work with its inputs made. Both sides write their own output; `base_output` and
// `candidate_output` read it back as float32 for the comparison.
struct Work {
    std::function<void()> base;
    std::function<void()> candidate;
    std::function<std::vector<float>()> base_output;
    std::function<std::vector<float>()> candidate_output;
    std::function<void()> poison;  // overwrites both outputs with NaN
    std::size_t reduction = 1;     // terms summed into one output element
    double term = 1;               // size of one such term
    double bytes = 0;              // read and written at least, once each
    double flops = 0;
};

enum class Level { core, comprehensive };

using Sizes = std::vector<std::int64_t>;

// An operator of the native corpus: its sizes, the shapes of the inputs that one of them stands
// for, and how to make its work. A case is named by its shapes before any input is made, so that a
// skipped case has the same id as a measured one. `make` returns nullopt where oneDNN has no
// implementation of this dtype on this CPU.
struct Operator {
    std::string name;
    std::vector<Sizes> (*sizes)(Level level);
    Json (*shapes)(const Sizes& sizes);
    std::optional<Work> (*make)(const Sizes& sizes, Dtype dtype);
};

// The `shapes` of an operator with one input of just these sizes.
Json one_input(const Sizes& sizes);

// The explicit array of all of them.
const std::vector<Operator>& all_operators();

// Values in [-1, 1) from a fixed seed: never zeros, the same in every run.
std::vector<float> random_values(std::size_t count, std::uint64_t seed);

// The largest differences. An element may differ by one step of the stored type, and by what
// float32 sums of `reduction` terms of size `term` lose, added one after the other. NaN on either
// side is a mismatch. `worst` is the largest difference over its allowance: ok up to 1.
struct Check {
    double max_abs_error = 0;
    double max_rel_error = 0;
    double worst = 0;
    bool ok = false;
};
Check compare(const std::vector<float>& reference, const std::vector<float>& other, Dtype dtype,
              std::size_t reduction, double term);

}  // namespace opgauge::operators
