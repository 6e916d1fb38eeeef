// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/measure/samples.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {

enum class Reproduced {
    yes,     // what differs is within the run's own noise
    no,      // beyond it, or there is no number now
    unknown  // one of the numbers is none that could be held to: flagged, failed, another timer
};
std::string_view name_of(Reproduced reproduced);

// One side of a case, recorded and measured again.
struct ReproducedRow {
    std::string operator_name;
    std::string dtype;
    std::string shapes;
    Side side = Side::candidate;
    Reproduced reproduced = Reproduced::unknown;
    std::string why;     // where it is not yes
    double then_ns = 0;  // 0: no number
    double now_ns = 0;
    double ratio = 1;  // now over then
    double noise = 0;  // what two processes of equal code may well differ by, relative
    std::optional<std::pair<double, double>> interval;  // of the ratio, noise included
};

struct Reproduction {
    std::vector<ReproducedRow> rows;
    std::size_t count(Reproduced reproduced) const;
};

struct ReproductionSettings {
    double at_least = 0.01;       // the smallest relative difference that matters
    double process_noise = 0.01;  // what two processes of equal code may differ by, at least
    double fdr = 0.01;            // false discovery rate of "not reproduced" over all rows
};

// Each side of each case of one run against the same in another. Unlike a comparison, it takes no
// side as a control for the other: a machine that became slower as a whole does not reproduce.
// Kinds: refused (the calibers differ), usage (no run), failed (a broken file).
Result<Reproduction> reproduce(const std::filesystem::path& recorded,
                               const std::filesystem::path& again,
                               const ReproductionSettings& settings);

}  // namespace opgauge
