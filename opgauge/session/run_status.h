// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/record/result_reader.h"
#include "opgauge/run/outcome.h"
#include "opgauge/session/conversation.h"

#include <string>
#include <vector>

namespace opgauge {

// The verdict on one run, from how the child ended and what came over the channel. An exit code of
// the corpus is never trusted alone.
struct RunStatus {
    std::string status;  // docs/exit_codes.md
    std::string reason;
    int exit_code = 0;
};
RunStatus judge_run(const Outcome& outcome, const ConversationResult& conversation);

// {"throttled:sw_power_cap": 2}: how many rows carry each flag. What follows an @ or a = is a row's
// own.
Json marker_counts(const std::vector<Row>& rows);

// The whole of status.json but for what tuning adds.
Json status_json(const RunStatus& status, const Outcome& outcome, const ConversationResult& said,
                 const RecordedRun& run, double seconds);

}  // namespace opgauge
