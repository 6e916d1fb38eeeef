// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/session/capture_memory.h"

#include <string>

namespace opgauge {

// The timer of one case and, where it is not the run's own, why.
struct CaseTimer {
    std::string timer;
    std::string fallback;  // "capture_refused", "not_captured", "capture_crashed"; empty: none
    std::string detail;    // the side and the device's words
};

// Chooses the timer of each case: the run's own, or the fallback where a graph is known not to
// work. Both sides of a case always have the same one.
class CaseTimers {
  public:
    // `fallback` is the timer of cases that cannot be captured.
    CaseTimers(std::string timer, std::string fallback, CaptureMemory memory);

    CaseTimer choose(const std::string& case_id, const std::string& node);
    // A capture failed: the case will be measured with the fallback.
    void failed(const CaptureFailure& failure, const std::string& node);
    // A case was measured with a graph.
    void captured(const std::string& case_id);

  private:
    std::string timer_;
    std::string fallback_;
    CaptureMemory memory_;
    // A failed capture costs a child. Once that many cases of one test have failed in a row, its
    // other cases are not tried.
    static constexpr int kEnoughFailures = 2;
    std::string node_;
    int failures_in_node_ = 0;
    CaptureFailure last_;
};

}  // namespace opgauge
