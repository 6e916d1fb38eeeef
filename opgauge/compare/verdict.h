// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace opgauge {

// B against A. docs/comparing.md defines each.
enum class Verdict { faster, slower, same, undecided };
std::string_view name_of(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);

// What would decide an undecided row.
enum class NextStep { none, more_samples, more_processes };
std::string_view name_of(NextStep step);

enum class Better { lower, higher };

struct VerdictSettings {
    double fdr = 0.01;         // false discovery rate of faster and slower over all rows
    double at_least = 0.01;    // the smallest relative difference that matters
    double confidence = 0.95;  // of each row's interval
    Better better = Better::lower;
};

// What the samples of one process each tell. They share that process's luck, whatever their number.
struct OneProcessEach {
    // How far two processes of equal code may well be apart, relative: 0.01 is 1 %.
    double noise = 0.01;
    // Of the ratio, from the intervals of both medians; absent where a process gave one number.
    std::optional<std::pair<double, double>> interval;
    // Medians of stretches of samples, or none: they show what neighbouring samples share.
    std::vector<double> blocks_a;
    std::vector<double> blocks_b;
};

// What is known of one row: positive values, one a process, of both arms.
struct Evidence {
    std::vector<double> a;
    std::vector<double> b;
    std::optional<OneProcessEach> one_process;  // where both arms have one process
};

struct RowVerdict {
    Verdict verdict = Verdict::undecided;
    NextStep next = NextStep::none;
    double ratio = 1;                                   // B over A: Hodges and Lehmann's estimate
    std::optional<std::pair<double, double>> interval;  // of the ratio, noise included
    // That the ratio is within at_least of 1; absent where no test was possible.
    std::optional<double> p;
    std::optional<double> adjusted_p;  // by Benjamini and Hochberg, over all rows
};

// A verdict for each row; the order of rows does not matter. Knows nothing of files.
std::vector<RowVerdict> judge_all(std::span<const Evidence> rows, const VerdictSettings& settings);

// Benjamini and Hochberg's step-up procedure: rejecting where the result is at most q holds the
// false discovery rate at q.
std::vector<double> adjusted_p_values(std::span<const double> p_values);

// How many processes a side can show one difference among this many rows.
std::size_t processes_needed(double fdr, std::size_t rows);

// Is the interval wholly beyond at_least to one side, or wholly within it?
bool is_beyond(std::pair<double, double> interval, double at_least);
bool is_within(std::pair<double, double> interval, double at_least);
std::pair<double, double> widened(std::pair<double, double> interval, double noise);

}  // namespace opgauge
