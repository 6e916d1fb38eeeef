// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/ab/schedule.h"
#include "opgauge/base/result.h"
#include "opgauge/compare/comparison.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// The settings of one look: it may use its share of all error rates.
VerdictSettings settings_at(const VerdictSettings& whole, const Look& look);

// What the arms' runs say at one look.
struct AbJudgement {
    Comparison comparison;              // A against B
    std::optional<Comparison> again;    // A against A; absent: it has no runs yet
    std::size_t winner_not_shared = 0;  // rows without a verdict, since one arm tuned anew
    bool identical = false;             // arms that differ in nothing but the switch itself
    bool is_decided() const;            // no further replicate could change a row
    std::size_t undecided() const;      // with those whose winner is not shared
};

struct AbQuestion {
    CompareOptions options;
    // Environment variables that the arms set differently; empty: their corpora differ.
    std::vector<std::string> switches;
};

// Of the run folders below `folder`/a, b and aa. Kinds as for compare().
Result<AbJudgement> judge_ab(const std::filesystem::path& folder, const AbQuestion& question,
                             const Look& look);

}  // namespace opgauge
