// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/report/report_source.h"

#include <string>
#include <string_view>

namespace opgauge {

// One self-contained page: opens from disk, loads nothing from anywhere. Kind failed: a broken
// file of samples.
Result<std::string> report_html(const ReportSource& source, std::string_view opgauge_version);

}  // namespace opgauge
