// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <string_view>

namespace opgauge::cli {

// "1%" and "0.01" are the same share. Kind usage: not from 0 to below 1; `option` is named.
Result<double> share_of(std::string_view text, std::string_view option);

}  // namespace opgauge::cli
