// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/compare/arm.h"
#include "opgauge/compare/pairing.h"
#include "opgauge/compare/verdict.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {

// Three times the control's change left 3 % of the rows of equal code on a busy host beyond it,
// twice 8 %, once 19 % (docs/comparing.md).
constexpr double kControlFactor = 3;

// Blocks of the samples of one arm's runs.
class BlockSource {
  public:
    BlockSource(const Arm& arm, What what) : arm_(arm), what_(what) {}

    // Empty where the run has no samples for it, or too few.
    std::vector<double> blocks_of(const Measurement& measurement);
    // One a run whose samples could not be read: their medians alone judge.
    const std::vector<std::string>& warnings() const { return warnings_; }

  private:
    const Arm& arm_;
    What what_;
    std::vector<std::string> warnings_;
};

// How far two processes of equal code may be apart, for pairs with one process each.
class ProcessNoise {
  public:
    // `floor` is what is assumed at least, relative.
    ProcessNoise(const std::vector<Pair>& pairs, double floor);

    // The largest of the floor, half of the sides' quartile ranges, and kControlFactor times the
    // largest change, over all cases of these two runs, of the side that is not compared.
    double between(const Measurement& a, const Measurement& b) const;

  private:
    double floor_;
    std::map<std::pair<std::size_t, std::size_t>, double> changes_;  // by runs of A and B
};

// What is known of a pair. From one process each, the samples are read only where they could undo
// a verdict.
Evidence evidence_of(const Pair& pair, const VerdictSettings& settings, const ProcessNoise& noise,
                     BlockSource& a, BlockSource& b);

}  // namespace opgauge
