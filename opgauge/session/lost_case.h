// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/record/row.h"
#include "opgauge/run/outcome.h"

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// What cost a child: kinds of a row's error (docs/exit_codes.md), worst first.
struct LostKind {
    static constexpr const char* kCrashed = "crashed";
    static constexpr const char* kTimeout = "timeout";
    static constexpr const char* kOom = "oom";
    static constexpr const char* kDeviceLost = "device_lost";
    static constexpr const char* kChildEnded = "child_ended";
    // No loss of the case: somebody ended the run.
    static constexpr const char* kInterrupted = "interrupted";
};

struct LostCase {
    std::string kind;
    std::string what;  // the case, or the test and that no case ran
    std::string reason;
    bool in_case = true;
};

// The kind of error of a case that was open when its child ended like this.
std::string lost_kind(const Outcome& outcome);

// A row whose case cost a child, or nullopt.
std::optional<LostCase> lost_case(const Row& row);

// "crashed", "timed out", "ran out of memory", ...: what is said of a case of this kind.
std::string lost_words(const std::string& kind);

// "2 of 5 cases crashed, first mm float16 [[2, 2]]: the child was killed by signal 11; ..."
std::string losses_text(const std::vector<LostCase>& lost, int rows);

// The kind that a run's status is named by, the worst; empty: nothing was lost.
std::string worst_kind(const std::vector<LostCase>& lost);

}  // namespace opgauge
