// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/compare/arm.h"
#include "opgauge/compare/facts.h"
#include "opgauge/compare/pairing.h"
#include "opgauge/compare/verdict.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// Whether differing calibers are refused, or shown without a verdict.
enum class CaliberRule { strict, cross };

struct CompareOptions {
    What what = What::candidate;
    VerdictSettings verdict;
    double process_noise = 0.01;       // between two processes of equal code, where one is all
    std::vector<std::string> factors;  // facts that may differ
    CaliberRule rule = CaliberRule::strict;
    std::vector<std::string> intended_flags;  // whole flags that the named difference must cause
};

// Why there are no rows, as one line.
enum class RefusalKind { caliber, nothing_shared };
struct Refusal {
    RefusalKind kind = RefusalKind::caliber;
    std::string message;
};

struct ComparedRow {
    const ArmCase* work = nullptr;
    std::string timer;
    std::vector<std::string> flags;  // of meaning: such a row enters no mean
    double a = 0;                    // median over the processes; nanoseconds or speed-up
    double b = 0;
    std::size_t processes_a = 0;
    std::size_t processes_b = 0;
    Evidence evidence;
    RowVerdict verdict;  // cross caliber: only its ratio and interval are meant
};

// A against B, as a value. Rows point into the arms, so it moves but is not copied.
struct Comparison {
    Comparison() = default;
    Comparison(Comparison&&) = default;
    Comparison& operator=(Comparison&&) = default;
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    CompareOptions options;
    Arm a;
    Arm b;
    std::vector<FactDifference> differences;  // allowed, refused, or shown across calibers
    std::optional<Refusal> refusal;           // then there are no rows
    std::vector<ComparedRow> rows;
    std::vector<LeftOut> left_out;
    std::map<std::string, std::size_t> flagged;  // measurements left out, by kind of flag
    std::size_t failed_measurements = 0;
    std::size_t other_timer_measurements = 0;
    std::size_t processes_needed = 0;     // a side, to show one difference among these rows
    std::optional<double> geomean_ratio;  // of the unflagged rows
    std::size_t geomean_n = 0;
    std::vector<std::string> notes;
};

std::size_t count_of(const Comparison& comparison, Verdict verdict);
std::size_t count_of(const Comparison& comparison, LeftOutKind kind);
// Is any row judged from the samples of one process each?
bool has_single_processes(const Comparison& comparison);

// A refusal is a value, since it has facts to show. Kinds of error: usage (no run there, a factor
// that is none, a run in both arms), failed (a broken file).
Result<Comparison> compare(const std::vector<std::string>& a, const std::vector<std::string>& b,
                           const CompareOptions& options);

}  // namespace opgauge
