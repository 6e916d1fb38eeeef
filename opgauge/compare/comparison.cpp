// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/comparison.h"

#include "opgauge/base/text.h"
#include "opgauge/compare/evidence.h"
#include "opgauge/compare/notes.h"
#include "opgauge/measure/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

Result<void> check_separate(const Arm& a, const Arm& b) {
    std::set<std::filesystem::path> in_a;
    std::error_code error;
    for (const auto& run : a.runs) in_a.insert(std::filesystem::canonical(run.directory, error));
    for (const auto& run : b.runs) {
        if (in_a.count(std::filesystem::canonical(run.directory, error)) == 0) continue;
        return fail(ErrorKind::usage, fmt::format("{} is in A and in B; name two different runs",
                                                  run.directory.string()));
    }
    return {};
}

void drop_flags(Arm& arm, const std::vector<std::string>& flags) {
    for (auto& work : arm.cases) {
        for (auto& measurement : work.measurements) {
            std::erase_if(measurement.flags, [&](const std::string& flag) {
                return std::find(flags.begin(), flags.end(), flag) != flags.end();
            });
        }
    }
}

// Timers of single rows may differ since one fell back: such rows are left out. Where the runs were
// meant to use different timers, all of it is refused.
bool runs_differ_in_timer(const Arm& a, const Arm& b) {
    std::set<std::string> timers;
    for (const auto* arm : {&a, &b}) {
        for (const auto& run : arm->runs) timers.insert(run.timer);
    }
    return timers.size() > 1;
}

std::vector<FactDifference> all_differences(const Comparison& result, const Pairing& pairing) {
    std::vector<FactDifference> differences = arm_differences(result.a, result.b);
    if (pairing.pairs.empty() || runs_differ_in_timer(result.a, result.b)) {
        differences.insert(differences.end(), pairing.timer_differences.begin(),
                           pairing.timer_differences.end());
    }
    if (pairing.winners) differences.push_back(*pairing.winners);
    return differences;
}

std::vector<std::string> factors_for_pairing(const CompareOptions& options) {
    std::vector<std::string> factors = options.factors;
    if (options.rule == CaliberRule::cross) factors.emplace_back(kTimerFact);
    return factors;
}

bool is_permitted(const FactDifference& difference, const CompareOptions& options) {
    // Winners may differ inside an arm too: then tuning is part of what its processes repeat.
    const bool may = difference.is_between_arms() || difference.fact == kWinnersFact;
    return may && is_allowed(difference.fact, options.factors);
}

double median_of(const std::vector<const Measurement*>& measurements) {
    std::vector<double> values;
    for (const auto* measurement : measurements) values.push_back(measurement->value);
    return summarize(values)->median;
}

ComparedRow row_of(const Pair& pair, const TimerTable& timers) {
    ComparedRow row;
    row.work = pair.a;
    row.flags = pair.flags;
    row.timer = timers[pair.from_a.front()->timer].name;
    const std::string& other = timers[pair.from_b.front()->timer].name;
    if (other != row.timer) row.timer += "/" + other;
    row.a = median_of(pair.from_a);
    row.b = median_of(pair.from_b);
    row.processes_a = pair.from_a.size();
    row.processes_b = pair.from_b.size();
    return row;
}

void judge_pairs(const Pairing& pairing, const TimerTable& timers, Comparison& result) {
    const CompareOptions& options = result.options;
    BlockSource blocks_a(result.a, options.what);
    BlockSource blocks_b(result.b, options.what);
    const ProcessNoise noise(pairing.pairs, options.process_noise);
    std::vector<Evidence> evidence;
    for (const auto& pair : pairing.pairs) {
        evidence.push_back(evidence_of(pair, options.verdict, noise, blocks_a, blocks_b));
    }
    const std::vector<RowVerdict> verdicts = judge_all(evidence, options.verdict);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        ComparedRow row = row_of(pairing.pairs[i], timers);
        row.evidence = std::move(evidence[i]);
        row.verdict = verdicts[i];
        if (row.flags.empty()) ratios.push_back(row.verdict.ratio);
        result.rows.push_back(std::move(row));
    }
    result.geomean_ratio = geometric_mean(ratios);
    result.geomean_n = ratios.size();
    result.processes_needed = processes_needed(options.verdict.fdr, verdicts.size());
    for (const auto* source : {&blocks_a, &blocks_b}) {
        for (const auto& warning : source->warnings()) result.notes.push_back(warning);
    }
}

}  // namespace

std::size_t count_of(const Comparison& comparison, Verdict verdict) {
    return static_cast<std::size_t>(
        std::count_if(comparison.rows.begin(), comparison.rows.end(),
                      [&](const ComparedRow& row) { return row.verdict.verdict == verdict; }));
}

std::size_t count_of(const Comparison& comparison, LeftOutKind kind) {
    return static_cast<std::size_t>(
        std::count_if(comparison.left_out.begin(), comparison.left_out.end(),
                      [&](const LeftOut& left_out) { return left_out.kind == kind; }));
}

bool has_single_processes(const Comparison& comparison) {
    return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                       [](const ComparedRow& row) { return row.evidence.one_process.has_value(); });
}

Result<Comparison> compare(const std::vector<std::string>& a, const std::vector<std::string>& b,
                           const CompareOptions& options) {
    OPGAUGE_TRY(check_factors(options.factors));
    TimerTable timers;
    Comparison result;
    result.options = options;
    OPGAUGE_TRY_ASSIGN(result.a, read_arm("A", a, options.what, timers));
    OPGAUGE_TRY_ASSIGN(result.b, read_arm("B", b, options.what, timers));
    OPGAUGE_TRY(check_separate(result.a, result.b));
    drop_flags(result.a, options.intended_flags);
    drop_flags(result.b, options.intended_flags);
    Pairing pairing = pair_up(result.a, result.b, timers, factors_for_pairing(options));
    result.left_out = std::move(pairing.left_out);
    result.flagged = std::move(pairing.flagged);
    result.failed_measurements = pairing.failed_measurements;
    result.other_timer_measurements = pairing.other_timer_measurements;
    result.differences = all_differences(result, pairing);
    result.notes = notes_on(result);
    std::vector<FactDifference> refused;
    for (const auto& difference : result.differences) {
        if (!is_permitted(difference, options)) refused.push_back(difference);
    }
    if (!refused.empty() && options.rule == CaliberRule::strict) {
        result.refusal =
            Refusal{RefusalKind::caliber, caliber_refusal(result, refused, pairing.tuned_operator)};
    } else if (pairing.pairs.empty()) {
        result.refusal = Refusal{RefusalKind::nothing_shared, nothing_compared(result)};
    } else {
        judge_pairs(pairing, timers, result);
    }
    return result;
}

}  // namespace opgauge
