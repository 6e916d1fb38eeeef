// SPDX-License-Identifier: Apache-2.0
#include "operators/operator.h"

#include "operators/definitions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace opgauge::operators {

std::string_view name_of(Dtype dtype) {
    return dtype == Dtype::float32 ? "float32" : "bfloat16";
}

std::optional<Dtype> dtype_named(std::string_view name) {
    if (name == "float32") return Dtype::float32;
    if (name == "bfloat16") return Dtype::bfloat16;
    return std::nullopt;
}

std::uint16_t to_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

float from_bfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return distribution(engine); });
    return values;
}

Check compare(const std::vector<float>& reference, const std::vector<float>& other, Dtype dtype,
              std::size_t reduction, double term) {
    // Two values rounded apart differ by one step at most: twice the unit roundoff, relatively.
    const double step = dtype == Dtype::float32 ? 0x1p-23 : 0x1p-7;
    // A sum of n random terms grows like a random walk, and each addition rounds what the sum is by
    // then: one after the other, n additions lose about 0.4 n roundoffs of a term (rms); in blocks,
    // as most processors add, far less.
    constexpr double kSumFactor = 16;
    const auto terms = static_cast<double>(std::max<std::size_t>(reduction, 1));
    const double lost = 0x1p-24 * term * std::max(kSumFactor * std::sqrt(terms), terms);
    Check check;
    if (reference.size() != other.size() || reference.empty()) return check;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double expected = static_cast<double>(reference[i]);
        const double difference = std::abs(expected - static_cast<double>(other[i]));
        if (std::isnan(difference)) {
            check.max_abs_error = check.max_rel_error = check.worst =
                std::numeric_limits<double>::quiet_NaN();
            return check;
        }
        const double size = std::abs(expected);
        check.max_abs_error = std::max(check.max_abs_error, difference);
        if (size > 0) check.max_rel_error = std::max(check.max_rel_error, difference / size);
        check.worst = std::max(check.worst, difference / (step * size + lost));
    }
    check.ok = check.worst <= 1;
    return check;
}

Json one_input(const Sizes& sizes) {
    return Json::array({Json(sizes)});
}

const std::vector<Operator>& all_operators() {
    static const std::vector<Operator> kAll = {mm_operator(),         add_operator(),
                                               relu_operator(),       softmax_operator(),
                                               layer_norm_operator(), sum_operator()};
    return kAll;
}

}  // namespace opgauge::operators
