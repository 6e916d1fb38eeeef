// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/schedule.h"

#include "opgauge/ab/judgement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace opgauge {
namespace {

constexpr std::size_t kReplicates = 10;
constexpr std::size_t kRows = 20;

TEST(AbSchedule, SixRoundsGiveEachArmEachPlaceTwiceAndEachPairBothOrders) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::map<std::pair<AbArm, std::size_t>, int> places;
        std::map<std::pair<AbArm, AbArm>, int> orders;
        for (const auto& round : ab_rounds(6, seed)) {
            for (std::size_t i = 0; i < 3; ++i) {
                ++places[{round[i], i}];
                for (std::size_t j = i + 1; j < 3; ++j) ++orders[{round[i], round[j]}];
            }
        }
        ASSERT_EQ(places.size(), 9U);
        for (const auto& [place, count] : places) EXPECT_EQ(count, 2);
        ASSERT_EQ(orders.size(), 6U);
        for (const auto& [order, count] : orders) EXPECT_EQ(count, 3);
    }
}

TEST(AbSchedule, TheSeedAloneSaysWhoGoesFirst) {
    std::set<AbArm> first;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(ab_rounds(3, seed), ab_rounds(3, seed));
        first.insert(ab_rounds(1, seed)[0][0]);
    }
    EXPECT_EQ(first.size(), 3U);
}

TEST(AbSchedule, TheSharesOfAllLooksAddUpToOne) {
    for (std::size_t count = 3; count < 100; ++count) {
        double shares = 0;
        std::size_t last = 0;
        for (const auto& look : ab_looks(count, true)) {
            EXPECT_GT(look.replicates, last);
            last = look.replicates;
            shares += look.share;
        }
        EXPECT_EQ(last, count);
        EXPECT_EQ(shares, 1);
    }
    EXPECT_EQ(ab_looks(10, true)[0].replicates, 7U);
    EXPECT_EQ(ab_looks(10, false).size(), 1U);
    EXPECT_EQ(ab_looks(9, true).size(), 1U);
    const auto settings = settings_at({}, ab_looks(10, true)[0]);
    EXPECT_DOUBLE_EQ(settings.fdr, 0.005);
    EXPECT_DOUBLE_EQ(settings.confidence, 0.975);
}

// What a clock does to the trial `trial` (0, 1, ...) of all; `first` of its round or not.
using Clock = double (*)(std::size_t trial, bool first);

struct Truth {
    double b = 1;      // what B takes, of what A takes
    double noise = 0;  // between processes
};

// The verdicts at the look at which an A/B with this schedule stops.
std::vector<RowVerdict> verdicts_of(Clock clock, Truth truth, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> process(0, truth.noise);
    std::vector<Evidence> rows(kRows);
    const auto rounds = ab_rounds(kReplicates, seed);
    const auto looks = ab_looks(kReplicates, true);
    std::vector<RowVerdict> verdicts;
    auto look = looks.begin();
    for (std::size_t number = 0; number < rounds.size(); ++number) {
        for (std::size_t place = 0; place < 3; ++place) {
            const AbArm arm = rounds[number][place];
            const double whole = clock(3 * number + place, place == 0) * process(random) *
                                 (arm == AbArm::b ? truth.b : 1);
            if (arm == AbArm::again) continue;
            for (auto& row : rows) (arm == AbArm::a ? row.a : row.b).push_back(1000 * whole);
        }
        if (number + 1 != look->replicates) continue;
        verdicts = judge_all(rows, settings_at({}, *look));
        const bool decided = std::none_of(verdicts.begin(), verdicts.end(), [](const auto& row) {
            return row.verdict == Verdict::undecided;
        });
        if (decided || ++look == looks.end()) return verdicts;
    }
    return verdicts;
}

int rows_called(const std::vector<RowVerdict>& verdicts) {
    return static_cast<int>(std::count_if(verdicts.begin(), verdicts.end(), [](const auto& row) {
        return row.verdict == Verdict::faster || row.verdict == Verdict::slower;
    }));
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

TEST(AbNull, AClockThatDriftsByOnePercentATrialCallsNoRow) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        EXPECT_EQ(rows_called(verdicts_of(drifts, {.noise = 0}, seed)), 0) << seed;
        EXPECT_EQ(rows_called(verdicts_of(drifts, {.noise = 0.003}, seed)), 0) << seed;
    }
}

TEST(AbNull, APriceOfFivePercentForGoingFirstCallsNoRow) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        EXPECT_EQ(rows_called(verdicts_of(first_pays, {.noise = 0}, seed)), 0) << seed;
        EXPECT_EQ(rows_called(verdicts_of(first_pays, {.noise = 0.003}, seed)), 0) << seed;
    }
}

TEST(AbNull, ThreePercentAreCalledWithTenReplicates) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        for (const auto& row : verdicts_of(steady, {.b = 1.03, .noise = 0.003}, seed)) {
            EXPECT_EQ(row.verdict, Verdict::slower) << seed;
        }
        for (const auto& row : verdicts_of(steady, {.b = 0.97, .noise = 0.003}, seed)) {
            EXPECT_EQ(row.verdict, Verdict::faster) << seed;
        }
    }
}

}  // namespace
}  // namespace opgauge
