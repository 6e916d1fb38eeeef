// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opgauge {
namespace {

// 1 % steps around `center`, so that ten values spread by `spread`.
std::vector<double> around(double center, double spread, std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        const double share =
            count < 2 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
        values.push_back(center * (1 + spread * (share - 0.5)));
    }
    return values;
}

Evidence processes(double b_over_a, double spread, std::size_t count) {
    return {around(100, spread, count), around(100 * b_over_a, spread, count), std::nullopt};
}

RowVerdict only(const Evidence& row, const VerdictSettings& settings = {}) {
    return judge_all(std::vector<Evidence>{row}, settings).front();
}

// Benjamini and Hochberg 1995, section 3.3: at 0.05 the four smallest of fifteen are rejected.
TEST(AdjustedPValues, RejectTheFourOfThePublishedExample) {
    const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                   0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
    const std::vector<double> adjusted = adjusted_p_values(p);
    EXPECT_NEAR(adjusted[0], 0.0015, 1e-12);
    EXPECT_NEAR(adjusted[3], 0.035625, 1e-12);
    EXPECT_NEAR(adjusted[4], 0.0603, 1e-12);
    EXPECT_NEAR(adjusted[5], 0.0638571, 1e-6);  // pulled down by the seventh
    EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(), [](double q) { return q <= 0.05; }),
              4);
}

TEST(AdjustedPValues, DoNotDependOnTheOrder) {
    const std::vector<double> adjusted = adjusted_p_values(std::vector<double>{0.04, 0.001, 0.5});
    EXPECT_NEAR(adjusted[0], 0.06, 1e-12);
    EXPECT_NEAR(adjusted[1], 0.003, 1e-12);
    EXPECT_NEAR(adjusted[2], 0.5, 1e-12);
    EXPECT_TRUE(adjusted_p_values({}).empty());
}

TEST(Verdict, ProcessesNeededFollowFromTheOrdersThatThereAre) {
    EXPECT_EQ(processes_needed(0.01, 1), 5U);   // 2/252
    EXPECT_EQ(processes_needed(0.01, 20), 8U);  // 2/12870 <= 0.0005 < 2/3432
    EXPECT_EQ(processes_needed(0.01, 15'750), 13U);
}

TEST(Verdict, ADifferenceBeyondWhatMattersIsFasterOrSlower) {
    EXPECT_EQ(only(processes(0.95, 0.004, 8)).verdict, Verdict::faster);
    EXPECT_EQ(only(processes(1.05, 0.004, 8)).verdict, Verdict::slower);
    VerdictSettings speedups;
    speedups.better = Better::higher;
    EXPECT_EQ(only(processes(0.95, 0.004, 8), speedups).verdict, Verdict::slower);
    EXPECT_EQ(only(processes(1.05, 0.004, 8), speedups).verdict, Verdict::faster);
    EXPECT_EQ(only(processes(1.05, 0.004, 8)).next, NextStep::none);
    EXPECT_NEAR(only(processes(1.05, 0.004, 8)).ratio, 1.05, 1e-3);
    EXPECT_NEAR(*only(processes(1.05, 0.004, 8)).p, 2.0 / 12870, 1e-9);
}

TEST(Verdict, SameNeedsTheWholeIntervalWithinWhatMatters) {
    EXPECT_EQ(only(processes(1.001, 0.004, 8)).verdict, Verdict::same);
    const RowVerdict wide = only(processes(1.001, 0.06, 8));
    EXPECT_EQ(wide.verdict, Verdict::undecided);
    EXPECT_EQ(wide.next, NextStep::more_processes);
}

// A difference of 0.5 % is certain, and does not matter.
TEST(Verdict, ACertainButSmallDifferenceIsTheSame) {
    EXPECT_EQ(only(processes(1.005, 0.0001, 10)).verdict, Verdict::same);
    VerdictSettings strict;
    strict.at_least = 0;
    EXPECT_EQ(only(processes(1.005, 0.0001, 10), strict).verdict, Verdict::slower);
}

TEST(Verdict, FewProcessesLeaveAnyDifferenceUndecided) {
    for (const std::size_t count : {1U, 2U, 3U, 4U}) {
        const RowVerdict row = only(processes(2, 0.001, count));
        EXPECT_EQ(row.verdict, Verdict::undecided) << count;
        EXPECT_EQ(row.next, NextStep::more_processes) << count;
    }
    EXPECT_EQ(only(processes(2, 0.001, 5)).verdict, Verdict::slower);
}

TEST(Verdict, TheMoreRowsTheMoreOneOfThemMustShow) {
    std::vector<Evidence> rows(20, processes(1, 0.004, 5));
    rows[7] = processes(1.5, 0.004, 5);
    EXPECT_EQ(judge_all(rows, {})[7].verdict, Verdict::undecided);  // 20 * 2/252 > 0.01
    rows[7] = processes(1.5, 0.004, 8);
    const auto verdicts = judge_all(rows, {});
    EXPECT_EQ(verdicts[7].verdict, Verdict::slower);
    EXPECT_NEAR(*verdicts[7].adjusted_p, 20 * 2.0 / 12870, 1e-9);
    rows.assign(20, processes(1.5, 0.004, 5));
    EXPECT_EQ(judge_all(rows, {})[7].verdict, Verdict::slower);  // all of them: 2/252 <= 0.01
}

TEST(Verdict, TiesCountAgainstADifference) {
    VerdictSettings settings;
    settings.at_least = 0;
    const Evidence equal{{100, 100, 100, 100, 100}, {100, 100, 100, 100, 100}, std::nullopt};
    EXPECT_EQ(*only(equal, settings).p, 1);
    EXPECT_EQ(only(equal, settings).verdict, Verdict::same);
}

// One process each: medians 100 and 100 times `b_over_a`, known to `precision` to either side.
Evidence one_each(double b_over_a, double precision, double noise) {
    OneProcessEach known;
    known.noise = noise;
    known.interval = {b_over_a * (1 - precision), b_over_a * (1 + precision)};
    return {{100}, {100 * b_over_a}, known};
}

TEST(Verdict, FromOneProcessEachTheNoiseBetweenProcessesIsAllowedFor) {
    const RowVerdict row = only(one_each(1.05, 0.002, 0.01));
    EXPECT_EQ(row.verdict, Verdict::slower);
    EXPECT_NEAR(row.interval->first, 1.05 * 0.998 / 1.01, 1e-12);
    EXPECT_NEAR(row.interval->second, 1.05 * 1.002 * 1.01, 1e-12);
    const RowVerdict close = only(one_each(1.018, 0.002, 0.01));
    EXPECT_EQ(close.verdict, Verdict::undecided);
    EXPECT_EQ(close.next, NextStep::more_processes);
    // Equal up to 1 % can not be seen from one process each, where processes differ by 1 %.
    EXPECT_EQ(only(one_each(1, 0.002, 0.01)).next, NextStep::more_processes);
    EXPECT_EQ(only(one_each(1, 0.002, 0.005)).verdict, Verdict::same);
}

// Student's t with 4 degrees of freedom has a closed form; the excess is 4 scales.
TEST(Verdict, ThePValueOfOneProcessEachIsThatOfTheNoise) {
    const double scale = std::log1p(0.01) / 2;
    Evidence row = one_each(std::exp(std::log1p(0.01) + 4 * scale), 0, 0.01);
    const double x = 4 / std::sqrt(4 * 4 + 4.0);
    EXPECT_NEAR(*only(row).p, 1 - 1.5 * x * (1 - x * x / 3), 1e-9);
}

TEST(Verdict, TheMoreRowsTheFurtherApartOneProcessEachMustBe) {
    std::vector<Evidence> rows(1000, one_each(1, 0.002, 0.01));
    rows[5] = one_each(1.05, 0.002, 0.01);
    rows[6] = one_each(2, 0.002, 0.01);
    const auto verdicts = judge_all(rows, {});
    EXPECT_EQ(verdicts[5].verdict, Verdict::undecided);
    EXPECT_EQ(verdicts[5].next, NextStep::more_processes);
    EXPECT_EQ(verdicts[6].verdict, Verdict::slower);
}

TEST(Verdict, AnImpreciseMedianAsksForMoreSamples) {
    EXPECT_EQ(only(one_each(1.05, 0.05, 0.01)).next, NextStep::more_samples);
}

// The medians are known to 0.2 %, but the process went through two states.
TEST(Verdict, BlocksThatDisagreeUndoWhatTheMediansSay) {
    Evidence row = one_each(1.05, 0.002, 0.01);
    row.one_process->blocks_a = {99, 100, 100, 101, 100, 100};
    row.one_process->blocks_b = {105, 105, 104, 105, 106, 105};
    EXPECT_EQ(only(row).verdict, Verdict::slower);
    row.one_process->blocks_b = {95, 96, 95, 105, 106, 105};
    EXPECT_EQ(only(row).verdict, Verdict::undecided);
    EXPECT_EQ(only(row).next, NextStep::more_samples);
    row.one_process->blocks_a = {100, 101};
    row.one_process->blocks_b = {105, 95};  // too few for ranks: all of them count
    EXPECT_NEAR(only(row).interval->first, 95.0 / 101 / 1.01, 1e-12);
}

TEST(Verdict, OneNumberAProcessAsksForMoreProcesses) {
    Evidence row{{100}, {200}, OneProcessEach{}};
    EXPECT_EQ(only(row).verdict, Verdict::undecided);
    EXPECT_EQ(only(row).next, NextStep::more_processes);
    EXPECT_FALSE(only(row).interval);
    EXPECT_FALSE(only(row).p);
    EXPECT_NEAR(only(row).ratio, 2, 1e-12);
}

TEST(Verdict, NoRowsGiveNoVerdicts) {
    EXPECT_TRUE(judge_all({}, {}).empty());
}

}  // namespace
}  // namespace opgauge
