// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/file.h"
#include "opgauge/base/result.h"
#include "opgauge/record/row.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// A case that cost a child on one setup.
struct QuarantinedCase {
    std::string case_id;
    std::string operator_name;
    std::string dtype;
    std::string shapes;
    std::string kind;     // lost_case.h: crashed, timeout, device_lost, child_ended
    std::string message;  // of the row
    std::string date;     // UTC, "2026-12-03"
};

// Which cases cost a child on one setup, kept over runs: one JSON line each in the cache,
// `quarantine/SETUP.jsonl`, appended at once. A later line for a case replaces an earlier one.
class Quarantine {
  public:
    Quarantine() = default;  // neither remembers nor knows

    // What is done with a case that is known. `note`: it is measured all the same, and new ones are
    // remembered; `none`: neither.
    enum class Use { none, note, skip };
    // Reads the file where there is one; lines that are not understood are left out.
    static Result<Quarantine> open(const std::filesystem::path& file, Use use);

    // Why the case is not to be measured, or nullopt.
    std::optional<std::string> reason_to_skip(const std::string& case_id) const;
    // A row has been finished: remembered where it cost a child, forgotten where it is ok.
    void take(const Row& row, const Clock& clock);
    std::vector<QuarantinedCase> cases() const;

  private:
    void read(const std::string& text);
    void append(const std::string& line);

    Use use_ = Use::note;
    std::map<std::string, QuarantinedCase> cases_;
    std::optional<LineAppender> file_;
};

// That of a setup. One that cannot be read or written is as good as none: its cases are measured.
Quarantine open_quarantine(const Environment& environment, const std::string& setup_id,
                           Quarantine::Use use);

// What is kept of each setup, by its id, for `opgauge batch --quarantine`. Kind environment: a file
// cannot be read.
Result<std::map<std::string, std::vector<QuarantinedCase>>> list_quarantine(
    const Environment& environment);

}  // namespace opgauge
