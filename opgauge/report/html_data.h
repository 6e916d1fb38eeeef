// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/report/report_source.h"

#include <string>
#include <string_view>

namespace opgauge {

// What the page reads when it opens: cases as columns, texts as numbers in one list of strings,
// since a batch has many thousand rows. All foreign text has its control characters shown.
Json html_data(const ReportSource& source, std::string_view opgauge_version);

// What the page reads when a case is looked at: a line of JSON for each case, in the order of
// html_data's. Of many samples every n-th is kept, so that a batch stays a file that opens at once.
Result<std::string> html_details(const ReportSource& source);

// JSON in which no tag can begin or end.
std::string without_tags(std::string json);

// Every text in it as printable() shows it, names of members too.
Json shown(const Json& value);

}  // namespace opgauge
