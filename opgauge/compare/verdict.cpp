// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/verdict.h"

#include "opgauge/compare/mann_whitney.h"
#include "opgauge/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace opgauge {
namespace {

using Interval = std::pair<double, double>;

// log(b) - log(a) of all pairs, ascending.
std::vector<double> log_differences(const Evidence& row) {
    std::vector<double> differences;
    differences.reserve(row.a.size() * row.b.size());
    for (const double a : row.a) {
        for (const double b : row.b) differences.push_back(std::log(b / a));
    }
    std::sort(differences.begin(), differences.end());
    return differences;
}

// Two-sided p-value of "the ratio is within the margin of 1", as twice the smaller of the p-values
// at the margin's ends. Pairs that lie on the margin count as within it.
double p_value(const std::vector<double>& differences, const Evidence& row, double margin,
               MannWhitney& test) {
    const auto above = static_cast<std::size_t>(
        differences.end() - std::upper_bound(differences.begin(), differences.end(), margin));
    const auto below = static_cast<std::size_t>(
        std::lower_bound(differences.begin(), differences.end(), -margin) - differences.begin());
    const std::size_t m = row.a.size();
    const std::size_t n = row.b.size();
    return std::min(1.0, 2 * test.upper_tail(m, n, std::max(above, below)));
}

struct Measured {
    RowVerdict verdict;
    std::optional<Interval> pure;  // the interval without the noise between processes
};

Measured measure_row(const Evidence& row, const VerdictSettings& settings, MannWhitney& test) {
    Measured result;
    result.pure = row.rough_interval;
    if (row.a.empty() || row.b.empty()) return result;
    const std::vector<double> differences = log_differences(row);
    result.verdict.ratio = std::exp(quantile_of_sorted(differences, 0.5));
    if (const auto rank = test.interval_rank(row.a.size(), row.b.size(), settings.confidence)) {
        result.pure = Interval(std::exp(differences[*rank]),
                               std::exp(differences[differences.size() - 1 - *rank]));
        const double margin = std::log1p(settings.at_least) + std::log1p(row.noise);
        result.verdict.p = p_value(differences, row, margin, test);
    }
    if (result.pure) result.verdict.interval = widened(*result.pure, row.noise);
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
NextStep next_step(const Measured& row, const Evidence& evidence, double at_least,
                   bool can_be_significant) {
    if (evidence.replicate == Replicate::process || !row.pure) return NextStep::more_processes;
    const bool pure_decides = is_beyond(*row.pure, at_least) || is_within(*row.pure, at_least);
    if (!pure_decides) return NextStep::more_samples;
    const bool beyond = is_beyond(*row.verdict.interval, at_least);
    return beyond && !can_be_significant ? NextStep::more_samples : NextStep::more_processes;
}

Verdict verdict_of(const RowVerdict& row, const VerdictSettings& settings) {
    if (!row.interval) return Verdict::undecided;
    const bool significant = row.adjusted_p && *row.adjusted_p <= settings.fdr;
    if (significant && is_beyond(*row.interval, settings.at_least)) {
        const bool lower = row.interval->second < 1;
        return lower == (settings.better == Better::lower) ? Verdict::faster : Verdict::slower;
    }
    // A rough interval is good enough to leave a row undecided, never to call two sides equal.
    return row.p && is_within(*row.interval, settings.at_least) ? Verdict::same
                                                                : Verdict::undecided;
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

std::string_view name_of(Replicate replicate) {
    return replicate == Replicate::process ? "process" : "block";
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
            const double least = test.smallest_p(rows[i].a.size(), rows[i].b.size());
            verdict.next = next_step(measured[i], rows[i], settings.at_least,
                                     least * static_cast<double>(rows.size()) <= settings.fdr);
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
