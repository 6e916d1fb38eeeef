// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/file.h"
#include "opgauge/base/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace opgauge {

// A side of a case that could not be recorded in a graph.
struct CaptureFailure {
    std::string case_id;
    std::string side;
    std::string kind;      // capture_refused, not_captured, capture_crashed
    std::string message;   // the device's words
    bool assumed = false;  // not tried: the cases before it in its test had failed
};

// Which cases cannot be captured on one setup, kept over runs: one JSON line each, appended at
// once, since trying again costs a child. A later line for a case replaces an earlier one.
class CaptureMemory {
  public:
    CaptureMemory() = default;  // remembers only while it lives

    // Reads the file where there is one; lines that are not understood are left out. `forget`:
    // start as if nothing were known (--retry-capture), and write what is found all the same.
    enum class Known { keep, forget };
    static Result<CaptureMemory> open(const std::filesystem::path& file, Known known);

    const CaptureFailure* find(const std::string& case_id) const;
    void add(const CaptureFailure& failure);
    // A case that was thought impossible has been captured.
    void remove(const std::string& case_id);

  private:
    void take(const std::string& text);
    void append(const std::string& line);

    std::map<std::string, CaptureFailure> failures_;
    std::map<std::string, CaptureFailure> forgotten_;  // in the file, not believed
    std::optional<LineAppender> file_;
};

}  // namespace opgauge
