// SPDX-License-Identifier: Apache-2.0
#include "cli/shares.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

namespace opgauge::cli {

Result<double> share_of(std::string_view text, std::string_view option) {
    const bool is_percent = text.ends_with('%');
    const auto number = parse_double(trim(is_percent ? text.substr(0, text.size() - 1) : text));
    const double share = number.value_or(-1) / (is_percent ? 100 : 1);
    if (share >= 0 && share < 1) return share;
    return fail(ErrorKind::usage, fmt::format("{} {} is no share from 0 to below 1; write 0.01 or "
                                              "1%",
                                              option, printable(text)));
}

}  // namespace opgauge::cli
