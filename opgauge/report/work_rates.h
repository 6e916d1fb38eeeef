// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/row.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// What a device was measured to reach. Facts of an identity; what is not there is unknown.
struct Ceilings {
    std::optional<double> copy_bytes_per_s;
    std::map<std::string, double> matmul_flops_per_s;  // by dtype

    bool known() const { return copy_bytes_per_s || !matmul_flops_per_s.empty(); }
};
Ceilings ceilings_of(const Json& identity);

// What one side of a case achieved, where the work's bytes and flops are known.
struct Achieved {
    std::optional<double> bytes_per_s;
    std::optional<double> flops_per_s;
    // The least time that the ceilings allow over the time taken: 0.8 is 80 % of the limit.
    std::optional<double> limit_share;
    std::string_view bound;  // "bandwidth" or "compute": which ceiling is the limit
};
Achieved achieved(const Row& row, const std::optional<SideResult>& side, const Ceilings& ceilings);

// Elements of all arguments that have a size: what a case's latency is drawn against.
std::optional<double> element_count(const Case& work);

}  // namespace opgauge
