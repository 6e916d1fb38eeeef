// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/report/report_table.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace opgauge {

// Foreign text for a Markdown page: plain words stay, all else goes into <code> with every mark
// that Markdown, HTML or a forge (@name, #1) would act on written as an entity. Cut after `limit`
// bytes.
std::string markdown_text(std::string_view text, std::size_t limit = 160);

// A table of GitHub's Markdown of at most `limit` bytes; what does not fit is counted in a line.
std::string markdown_table(const ReportTable& table, std::size_t limit);

}  // namespace opgauge
