// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/case_name.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

namespace opgauge {

std::string case_name(const Row& row) {
    return printable(
        fmt::format("{} {} {}", row.work.operator_name, row.work.dtype, shapes_text(row.work)),
        200);
}

}  // namespace opgauge
