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
        const double share = count < 2 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
        values.push_back(center * (1 + spread * (share - 0.5)));
    }
    return values;
}

Evidence processes(double b_over_a, double spread, std::size_t count) {
    return {around(100, spread, count), around(100 * b_over_a, spread, count), Replicate::process, 0,
            std::nullopt};
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
    EXPECT_EQ(processes_needed(0.01, 1), 5U);       // 2/252
    EXPECT_EQ(processes_needed(0.01, 20), 8U);      // 2/12870 <= 0.0005 < 2/3432
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
    const Evidence equal{{100, 100, 100, 100, 100}, {100, 100, 100, 100, 100}, {}, 0, {}};
    EXPECT_EQ(*only(equal, settings).p, 1);
    EXPECT_EQ(only(equal, settings).verdict, Verdict::same);
}

Evidence blocks(double b_over_a, double spread, double noise, std::size_t count) {
    Evidence row = processes(b_over_a, spread, count);
    row.replicate = Replicate::block;
    row.noise = noise;
    return row;
}

TEST(Verdict, FromOneProcessEachTheNoiseBetweenProcessesIsAllowedFor) {
    EXPECT_EQ(only(blocks(1.05, 0.002, 0.01, 12)).verdict, Verdict::slower);
    const RowVerdict close = only(blocks(1.018, 0.002, 0.01, 12));
    EXPECT_EQ(close.verdict, Verdict::undecided);
    EXPECT_EQ(close.next, NextStep::more_processes);
    EXPECT_NEAR(close.interval->second / close.interval->first, 1.02, 0.003);
    // Equal up to 1 % can not be seen from one process each, where processes differ by 1 %.
    EXPECT_EQ(only(blocks(1, 0.002, 0.01, 12)).next, NextStep::more_processes);
    EXPECT_EQ(only(blocks(1, 0.002, 0.005, 12)).verdict, Verdict::same);
}

TEST(Verdict, FewOrWideBlocksAskForMoreSamples) {
    EXPECT_EQ(only(blocks(1.05, 0.2, 0.01, 12)).next, NextStep::more_samples);
    EXPECT_EQ(only(blocks(1.5, 0.002, 0.01, 4)).next, NextStep::more_samples);
}

TEST(Verdict, OneNumberAProcessAsksForMoreProcesses) {
    const RowVerdict row = only(blocks(2, 0, 0.01, 1));
    EXPECT_EQ(row.verdict, Verdict::undecided);
    EXPECT_EQ(row.next, NextStep::more_processes);
    EXPECT_FALSE(row.interval);
    EXPECT_FALSE(row.p);
    EXPECT_NEAR(row.ratio, 2, 1e-12);
}

TEST(Verdict, ARoughIntervalNeverDecides) {
    Evidence row = blocks(2, 0, 0.01, 1);
    row.rough_interval = {1.98, 2.02};
    EXPECT_EQ(only(row).verdict, Verdict::undecided);
    row = blocks(1, 0, 0.001, 1);
    row.rough_interval = {0.999, 1.001};
    EXPECT_EQ(only(row).verdict, Verdict::undecided);
}

TEST(Verdict, NoRowsGiveNoVerdicts) { EXPECT_TRUE(judge_all({}, {}).empty()); }

}  // namespace
}  // namespace opgauge
