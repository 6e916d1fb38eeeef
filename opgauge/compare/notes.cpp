// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/notes.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace opgauge {
namespace {

// First and last start of an arm's runs. Times of this format sort as text.
std::pair<std::string, std::string> span_of(const Arm& arm) {
    std::pair<std::string, std::string> span;
    for (const auto& run : arm.runs) {
        if (span.first.empty() || run.created_utc < span.first) span.first = run.created_utc;
        span.second = std::max(span.second, run.created_utc);
    }
    return span;
}

bool has_replicates(const Arm& arm) {
    return std::any_of(arm.cases.begin(), arm.cases.end(),
                       [](const ArmCase& work) { return work.measurements.size() > 1; });
}

void note_order(const Comparison& comparison, std::vector<std::string>& notes) {
    if (!has_replicates(comparison.a) || !has_replicates(comparison.b)) return;
    const auto a = span_of(comparison.a);
    const auto b = span_of(comparison.b);
    if (a.second >= b.first && b.second >= a.first) return;
    notes.emplace_back(
        "all runs of one arm came before all of the other: a machine that drifts looks like a "
        "difference; alternate them");
}

void note_versions(const Comparison& comparison, std::vector<std::string>& notes) {
    std::set<std::string> versions;
    for (const auto* arm : {&comparison.a, &comparison.b}) {
        for (const auto& run : arm->runs) versions.insert(printable(run.opgauge_version));
    }
    if (versions.size() < 2) return;
    const std::vector<std::string> list(versions.begin(), versions.end());
    notes.push_back(fmt::format("measured by different versions of opgauge: {}", join(list, ", ")));
}

void note_idle_factors(const Comparison& comparison, std::vector<std::string>& notes) {
    for (const auto& factor : comparison.options.factors) {
        const std::vector<std::string> one = {factor};
        const bool differs = std::any_of(
            comparison.differences.begin(), comparison.differences.end(),
            [&](const FactDifference& difference) { return is_allowed(difference.fact, one); });
        if (!differs) {
            notes.push_back(fmt::format("--factor {}: A and B do not differ in it", factor));
        }
    }
}

std::string names_of(const std::vector<FactDifference>& differences) {
    std::set<std::string> names;
    for (const auto& difference : differences) names.insert(printable(difference.fact));
    const std::vector<std::string> list(names.begin(), names.end());
    return join(list, ",");
}

// Why winners make two runs of equal code incomparable, and what cures it.
std::string tuned_separately(const Comparison& comparison, const std::string& tuned_operator) {
    return fmt::format(
        "; the two were tuned separately, so a difference may be the tuner's luck and not the "
        "code's; measure B with A's winners: `opgauge run {} --tune replay --from {}`",
        printable(tuned_operator), printable(comparison.a.paths.front()));
}

}  // namespace

std::vector<std::string> notes_on(const Comparison& comparison) {
    std::vector<std::string> notes;
    for (const auto* arm : {&comparison.a, &comparison.b}) {
        for (const auto& warning : arm->warnings) notes.push_back(printable(warning));
    }
    note_versions(comparison, notes);
    note_order(comparison, notes);
    note_idle_factors(comparison, notes);
    if (comparison.options.rule == CaliberRule::cross && comparison.differences.empty()) {
        notes.emplace_back("the calibers are equal: without --cross-caliber there are verdicts");
    }
    return notes;
}

std::string caliber_refusal(const Comparison& comparison,
                            const std::vector<FactDifference>& differences,
                            const std::string& tuned_operator) {
    std::vector<std::string> facts;
    bool between = true;
    bool winners = false;
    for (const auto& difference : differences) {
        facts.push_back(to_text(difference));
        between = between && (difference.is_between_arms() || difference.fact == kWinnersFact);
        winners = winners || difference.fact == kWinnersFact;
    }
    std::string text =
        fmt::format("A and B cannot be compared, {} {}: {}", facts.size(),
                    facts.size() == 1 ? "fact differs" : "facts differ", join(facts, "; "));
    if (winners) text += tuned_separately(comparison, tuned_operator);
    if (!between) text += "; the runs of one arm must have one caliber: leave the others out";
    if (between) text += fmt::format("; --factor {} allows it", names_of(differences));
    return text + "; --cross-caliber shows both without a verdict";
}

std::string nothing_compared(const Comparison& comparison) {
    std::vector<std::string> counts;
    for (const auto kind : {LeftOutKind::only_in_a, LeftOutKind::only_in_b, LeftOutKind::failed,
                            LeftOutKind::flagged, LeftOutKind::timers_differ}) {
        const std::size_t count = count_of(comparison, kind);
        if (count > 0) counts.push_back(fmt::format("{} {}", count, name_of(kind)));
    }
    if (counts.empty()) return "nothing to compare: neither A nor B has a case";
    return fmt::format(
        "nothing to compare: A and B share no case with a number ({}); measure the "
        "same operators, dtypes and shapes in both",
        join(counts, ", "));
}

}  // namespace opgauge
