// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opgauge::cli {

// The page of docs/cli that --help prints for a command; "opgauge" is the overview. Embedded at
// build time, so help and documentation are one text.
std::string_view help_page(std::string_view command);

}  // namespace opgauge::cli
