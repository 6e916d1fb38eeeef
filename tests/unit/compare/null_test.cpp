// SPDX-License-Identifier: Apache-2.0
// Both arms run equal code: whatever is called faster or slower is false.
#include "opgauge/compare/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace opgauge {
namespace {

constexpr int kRepeats = 200;
constexpr std::size_t kRows = 20;
constexpr std::size_t kProcesses = 10;  // a side, ABBA ABBA ...

// What a clock does to the trial `trial` (0, 1, ...) of all; `first` of its pair or not.
using Clock = double (*)(std::size_t trial, bool first);

// Each process is off by `noise` as a whole, and each of its rows by a third of that.
std::vector<Evidence> experiment(Clock clock, double noise, std::mt19937_64& random) {
    std::lognormal_distribution<double> process(0, noise);
    std::lognormal_distribution<double> row_noise(0, noise / 3);
    std::vector<Evidence> rows(kRows);
    for (std::size_t trial = 0; trial < 2 * kProcesses; ++trial) {
        const bool first = trial % 2 == 0;
        const bool is_a = first == ((trial / 2) % 2 == 0);
        const double whole = clock(trial, first) * process(random);
        for (std::size_t i = 0; i < kRows; ++i) {
            const double value = 1000.0 * static_cast<double>(i + 1) * whole * row_noise(random);
            (is_a ? rows[i].a : rows[i].b).push_back(value);
        }
    }
    return rows;
}

// By default the strictest setting: any difference matters.
struct Trials {
    int repeats = kRepeats;
    double at_least = 0;
};

// Experiments in which any row got a false verdict.
int false_experiments(Clock clock, double noise, Trials trials = {}) {
    std::mt19937_64 random(20261203);
    VerdictSettings settings;
    settings.at_least = trials.at_least;
    int count = 0;
    for (int repeat = 0; repeat < trials.repeats; ++repeat) {
        const auto verdicts = judge_all(experiment(clock, noise, random), settings);
        const bool any = std::any_of(verdicts.begin(), verdicts.end(), [](const RowVerdict& row) {
            return row.verdict == Verdict::faster || row.verdict == Verdict::slower;
        });
        count += any ? 1 : 0;
    }
    return count;
}

double steady(std::size_t, bool) {
    return 1;
}
double drifts(std::size_t trial, bool) {
    return std::pow(1.01, static_cast<double>(trial));
}
double first_pays(std::size_t, bool first) {
    return first ? 1.05 : 1;
}

// Where all is null, the false discovery rate is the share of experiments with any discovery.
constexpr int kAllowed = static_cast<int>(0.01 * kRepeats);

// The rate itself is 0.6 % (58 of 10,000), so that 200 repeats tell too little about 1 %.
TEST(NullTest, NoiseAloneIsNoDifference) {
    EXPECT_LE(false_experiments(steady, 0.01, {.repeats = 1000, .at_least = 0}), 10);
    EXPECT_EQ(false_experiments(steady, 0.01, {.at_least = 0.01}), 0);
}

TEST(NullTest, AClockThatDriftsByOnePercentATrialIsNoDifference) {
    EXPECT_EQ(false_experiments(drifts, 0), 0);
    EXPECT_LE(false_experiments(drifts, 0.01), kAllowed);
    EXPECT_EQ(false_experiments(drifts, 0.01, {.at_least = 0.01}), 0);
}

TEST(NullTest, APriceOfFivePercentForGoingFirstIsNoDifference) {
    EXPECT_EQ(false_experiments(first_pays, 0), 0);
    EXPECT_LE(false_experiments(first_pays, 0.01), kAllowed);
    EXPECT_EQ(false_experiments(first_pays, 0.01, {.at_least = 0.01}), 0);
}

TEST(NullTest, ADifferenceOfTenPercentIsSeenThroughTheSameNoise) {
    std::mt19937_64 random(20261203);
    int found = 0;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        auto rows = experiment(first_pays, 0.01, random);
        for (auto& value : rows[3].b) value *= 1.10;
        for (auto& value : rows[4].b) value *= 1.10;
        found += judge_all(rows, {})[3].verdict == Verdict::slower ? 1 : 0;
    }
    EXPECT_GE(found, kRepeats * 9 / 10);
}

}  // namespace
}  // namespace opgauge
