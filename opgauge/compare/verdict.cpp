// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/verdict.h"

#include "opgauge/compare/mann_whitney.h"
#include "opgauge/measure/statistics.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opgauge {
namespace {

using Interval = std::pair<double, double>;

// Differences between two processes of equal code are taken to be like Student's t of this many
// degrees of freedom, with half of the noise as its scale: heavy tails, since now and then a
// process is far off (docs/comparing.md).
constexpr double kNoiseFreedom = 4;

// log(b) - log(a) of all pairs, ascending.
std::vector<double> log_differences(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> differences;
    differences.reserve(a.size() * b.size());
    for (const double left : a) {
        for (const double right : b) differences.push_back(std::log(right / left));
    }
    std::sort(differences.begin(), differences.end());
    return differences;
}

Interval ratios_between(const std::vector<double>& differences, std::size_t rank) {
    return {std::exp(differences[rank]), std::exp(differences[differences.size() - 1 - rank])};
}

struct Measured {
    RowVerdict verdict;
    std::optional<Interval> pure;  // the interval without the noise between processes
};

// Two-sided p-value of "the ratio is within at_least of 1", as twice the smaller of the p-values at
// both ends. Pairs that lie on an end count as within.
void test_processes(const std::vector<double>& differences, const Evidence& row,
                    const VerdictSettings& settings, MannWhitney& test, Measured& result) {
    const std::size_t m = row.a.size();
    const std::size_t n = row.b.size();
    const auto rank = test.interval_rank(m, n, settings.confidence);
    if (!rank) return;
    result.pure = ratios_between(differences, *rank);
    result.verdict.interval = result.pure;
    const double margin = std::log1p(settings.at_least);
    const auto above = static_cast<std::size_t>(
        differences.end() - std::upper_bound(differences.begin(), differences.end(), margin));
    const auto below = static_cast<std::size_t>(
        std::lower_bound(differences.begin(), differences.end(), -margin) - differences.begin());
    result.verdict.p = std::min(1.0, 2 * test.upper_tail(m, n, std::max(above, below)));
}

// The hull of the interval from the medians' own and that of the blocks; of few blocks all.
Interval interval_of(const OneProcessEach& known, double confidence, MannWhitney& test) {
    Interval interval = *known.interval;
    const std::vector<double> differences = log_differences(known.blocks_a, known.blocks_b);
    if (differences.empty()) return interval;
    const auto rank =
        test.interval_rank(known.blocks_a.size(), known.blocks_b.size(), confidence).value_or(0);
    const Interval blocks = ratios_between(differences, rank);
    return {std::min(interval.first, blocks.first), std::max(interval.second, blocks.second)};
}

// How probable it is that two processes of equal code are as far apart as the interval's near end.
void test_one_process(const OneProcessEach& known, const VerdictSettings& settings,
                      MannWhitney& test, Measured& result) {
    if (!known.interval) return;
    result.pure = interval_of(known, settings.confidence, test);
    result.verdict.interval = widened(*result.pure, known.noise);
    const double near = std::max(std::log(result.pure->first), -std::log(result.pure->second));
    const double excess = std::max(0.0, near - std::log1p(settings.at_least));
    const boost::math::students_t_distribution<double> noise(kNoiseFreedom);
    const double scale = std::max(std::log1p(known.noise) / 2, 1e-9);
    result.verdict.p =
        std::min(1.0, 2 * boost::math::cdf(boost::math::complement(noise, excess / scale)));
}

Measured measure_row(const Evidence& row, const VerdictSettings& settings, MannWhitney& test) {
    Measured result;
    if (row.a.empty() || row.b.empty()) return result;
    const std::vector<double> differences = log_differences(row.a, row.b);
    result.verdict.ratio = std::exp(quantile_of_sorted(differences, 0.5));
    if (row.one_process) {
        test_one_process(*row.one_process, settings, test, result);
    } else {
        test_processes(differences, row, settings, test, result);
    }
    return result;
}

// All rows are one family; one without a p-value counts as one that shows nothing.
void adjust(std::vector<Measured>& rows) {
    std::vector<double> p_values;
    for (const auto& row : rows) p_values.push_back(row.verdict.p.value_or(1.0));
    const std::vector<double> adjusted = adjusted_p_values(p_values);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].verdict.p) rows[i].verdict.adjusted_p = adjusted[i];
    }
}

// Only for an undecided row. Where the samples alone would decide, the noise between processes
// stands in the way; so it does where a process gave one number.
NextStep next_step(const Measured& row, const Evidence& evidence, double at_least) {
    if (!evidence.one_process || !row.pure) return NextStep::more_processes;
    const bool decides = is_beyond(*row.pure, at_least) || is_within(*row.pure, at_least);
    return decides ? NextStep::more_processes : NextStep::more_samples;
}

Verdict verdict_of(const RowVerdict& row, const VerdictSettings& settings) {
    if (!row.interval) return Verdict::undecided;
    const bool significant = row.adjusted_p && *row.adjusted_p <= settings.fdr;
    if (significant && is_beyond(*row.interval, settings.at_least)) {
        const bool lower = row.interval->second < 1;
        return lower == (settings.better == Better::lower) ? Verdict::faster : Verdict::slower;
    }
    return is_within(*row.interval, settings.at_least) ? Verdict::same : Verdict::undecided;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::same:
            return "same";
        case Verdict::undecided:
            return "undecided";
    }
    return "undecided";
}

std::optional<Verdict> verdict_named(std::string_view name) {
    for (const Verdict verdict :
         {Verdict::faster, Verdict::slower, Verdict::same, Verdict::undecided}) {
        if (name_of(verdict) == name) return verdict;
    }
    return std::nullopt;
}

std::string_view name_of(NextStep step) {
    switch (step) {
        case NextStep::none:
            return "";
        case NextStep::more_samples:
            return "more samples";
        case NextStep::more_processes:
            return "more processes";
    }
    return "";
}

std::vector<RowVerdict> judge_all(std::span<const Evidence> rows, const VerdictSettings& settings) {
    MannWhitney test;
    std::vector<Measured> measured;
    measured.reserve(rows.size());
    for (const auto& row : rows) measured.push_back(measure_row(row, settings, test));
    adjust(measured);
    std::vector<RowVerdict> verdicts;
    verdicts.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowVerdict verdict = measured[i].verdict;
        verdict.verdict = verdict_of(verdict, settings);
        if (verdict.verdict == Verdict::undecided) {
            verdict.next = next_step(measured[i], rows[i], settings.at_least);
        }
        verdicts.push_back(verdict);
    }
    return verdicts;
}

std::vector<double> adjusted_p_values(std::span<const double> p_values) {
    std::vector<std::size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t i, std::size_t j) { return p_values[i] < p_values[j]; });
    std::vector<double> adjusted(p_values.size());
    double smallest = 1;
    for (std::size_t rank = order.size(); rank > 0; --rank) {
        const double scale = static_cast<double>(order.size()) / static_cast<double>(rank);
        smallest = std::min(smallest, p_values[order[rank - 1]] * scale);
        adjusted[order[rank - 1]] = smallest;
    }
    return adjusted;
}

std::size_t processes_needed(double fdr, std::size_t rows) {
    MannWhitney test;
    const double limit = fdr / static_cast<double>(std::max<std::size_t>(rows, 1));
    for (std::size_t count = 2; count < MannWhitney::kExactSize; ++count) {
        if (test.smallest_p(count, count) <= limit) return count;
    }
    return MannWhitney::kExactSize;
}

bool is_beyond(std::pair<double, double> interval, double at_least) {
    return interval.first > 1 + at_least || interval.second < 1 / (1 + at_least);
}

bool is_within(std::pair<double, double> interval, double at_least) {
    return interval.first >= 1 / (1 + at_least) && interval.second <= 1 + at_least;
}

std::pair<double, double> widened(std::pair<double, double> interval, double noise) {
    return {interval.first / (1 + noise), interval.second * (1 + noise)};
}

}  // namespace opgauge
