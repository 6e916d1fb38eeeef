// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/work_rates.h"

namespace opgauge {
namespace {

std::optional<double> positive(const Json& object, std::string_view key) {
    const auto value = get_optional<double>(object, key);
    return value && *value > 0 ? value : std::nullopt;
}

std::optional<double> matmul_ceiling(const Ceilings& ceilings, const std::string& dtype) {
    const auto found = ceilings.matmul_flops_per_s.find(dtype);
    return found == ceilings.matmul_flops_per_s.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Ceilings ceilings_of(const Json& identity) {
    Ceilings ceilings;
    if (!identity.is_object()) return ceilings;
    const auto found = identity.find("ceilings");
    if (found == identity.end() || !found->is_object()) return ceilings;
    ceilings.copy_bytes_per_s = positive(*found, "copy_bytes_per_s");
    const auto matmul = found->find("matmul_flops_per_s");
    if (matmul == found->end() || !matmul->is_object()) return ceilings;
    for (const auto& [dtype, value] : matmul->items()) {
        if (const auto flops = positive(*matmul, dtype))
            ceilings.matmul_flops_per_s[dtype] = *flops;
    }
    return ceilings;
}

Achieved achieved(const Row& row, const std::optional<SideResult>& side, const Ceilings& ceilings) {
    Achieved result;
    if (row.status != RowStatus::ok || !side || !side->summary || !(side->summary->median > 0)) {
        return result;
    }
    const double seconds = side->summary->median / 1e9;
    double least = 0;
    if (const auto bytes = positive(row.work_amount, "bytes")) {
        result.bytes_per_s = *bytes / seconds;
        if (ceilings.copy_bytes_per_s) {
            least = *bytes / *ceilings.copy_bytes_per_s;
            result.bound = "bandwidth";
        }
    }
    if (const auto flops = positive(row.work_amount, "flops")) {
        result.flops_per_s = *flops / seconds;
        const auto ceiling = matmul_ceiling(ceilings, row.work.dtype);
        if (ceiling && *flops / *ceiling > least) {
            least = *flops / *ceiling;
            result.bound = "compute";
        }
    }
    if (least > 0) result.limit_share = least / seconds;
    return result;
}

std::optional<double> element_count(const Case& work) {
    double total = 0;
    for (const auto& shape : work.shapes) {
        if (!shape.is_array()) continue;
        double elements = 1;
        for (const auto& size : shape) elements *= size.is_number() ? size.get<double>() : 0;
        total += elements;
    }
    return total > 0 ? std::optional(total) : std::nullopt;
}

}  // namespace opgauge
