// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

// Flags of rows whose winner was not the recorded one.
constexpr std::array<std::string_view, 2> kTunedAnew = {"replay_miss", "_evicted"};
constexpr std::string_view kNotShared = "undecided: winner not shared";

// The facts that the arms were made to differ in.
std::vector<std::string> named_facts(const std::vector<std::string>& switches) {
    if (switches.empty()) return {"corpus.commit", "corpus.dirty"};
    std::vector<std::string> facts;
    for (const auto& name : switches) facts.push_back("environment." + name);
    return facts;
}

std::size_t mark_not_shared(Comparison& comparison) {
    std::size_t count = 0;
    for (auto& left_out : comparison.left_out) {
        if (left_out.kind != LeftOutKind::flagged) continue;
        const bool tuned = std::any_of(
            kTunedAnew.begin(), kTunedAnew.end(),
            [&](std::string_view flag) { return left_out.detail.find(flag) != std::string::npos; });
        if (!tuned) continue;
        left_out.detail = fmt::format("{} ({})", kNotShared, left_out.detail);
        ++count;
    }
    return count;
}

std::size_t called(const Comparison& comparison) {
    return count_of(comparison, Verdict::faster) + count_of(comparison, Verdict::slower);
}

// Whether a row looks like a difference, be it too little for a verdict.
bool looks_different(const ComparedRow& row, double at_least) {
    const std::pair<double, double> point{row.verdict.ratio, row.verdict.ratio};
    return is_beyond(row.verdict.interval.value_or(point), at_least);
}

bool is_identical(const Comparison& comparison, const std::vector<std::string>& switches) {
    if (switches.empty() || comparison.refusal) return false;
    const double at_least = comparison.options.verdict.at_least;
    for (const auto& row : comparison.rows) {
        if (looks_different(row, at_least)) return false;
    }
    const auto named = named_facts(switches);
    return comparison.left_out.empty() &&
           std::all_of(comparison.differences.begin(), comparison.differences.end(),
                       [&](const FactDifference& difference) {
                           return is_allowed(difference.fact, named);
                       });
}

std::string again_text(const AbJudgement& judgement) {
    if (!judgement.again) return "A/A: not measured, so the false-alarm rate is unknown";
    const Comparison& again = *judgement.again;
    if (again.refusal) return "A/A: no verdicts: " + again.refusal->message;
    const std::size_t rows = again.rows.size();
    return fmt::format(
        "A/A: {} of {} rows of equal code were called faster or slower ({:.1f} % false alarms)",
        called(again), rows,
        rows == 0 ? 0.0 : 100.0 * static_cast<double>(called(again)) / static_cast<double>(rows));
}

void add_notes(AbJudgement& judgement) {
    auto& notes = judgement.comparison.notes;
    notes.push_back(again_text(judgement));
    if (judgement.winner_not_shared > 0) {
        notes.push_back(fmt::format(
            "{} rows are {}: a recorded winner could not be used in one arm; measure them with "
            "--tune record to compare tuning and all",
            judgement.winner_not_shared, kNotShared));
    }
    if (judgement.identical) {
        notes.emplace_back(
            "arms are identical in code path and caliber as far as opgauge can see: is the switch "
            "read at all?");
    }
}

}  // namespace

VerdictSettings settings_at(const VerdictSettings& whole, const Look& look) {
    VerdictSettings settings = whole;
    settings.fdr *= look.share;
    settings.confidence = 1 - (1 - whole.confidence) * look.share;
    return settings;
}

bool AbJudgement::is_decided() const {
    return !comparison.refusal && !comparison.rows.empty() &&
           count_of(comparison, Verdict::undecided) == 0;
}

std::size_t AbJudgement::undecided() const {
    return count_of(comparison, Verdict::undecided) + winner_not_shared;
}

Result<AbJudgement> judge_ab(const std::filesystem::path& folder, const AbQuestion& question,
                             const Look& look) {
    CompareOptions options = question.options;
    options.verdict = settings_at(options.verdict, look);
    const auto named = named_facts(question.switches);
    options.factors.insert(options.factors.end(), named.begin(), named.end());
    for (const auto& name : question.switches) {
        options.intended_flags.push_back("replay_scope_accepted:environment." + name);
    }
    const auto arm = [&](const char* name) {
        return std::vector<std::string>{(folder / name).string()};
    };
    AbJudgement judgement;
    OPGAUGE_TRY_ASSIGN(judgement.comparison, compare(arm("a"), arm("b"), options));
    std::erase_if(options.factors,
                  [](const std::string& factor) { return factor != kWinnersFact; });
    if (auto again = compare(arm("a"), arm("aa"), options)) judgement.again = std::move(*again);
    // That a variable is no part of the identity says nothing about whether somebody reads it.
    std::erase_if(judgement.comparison.notes, [&](const std::string& note) {
        return std::any_of(named.begin(), named.end(), [&](const std::string& fact) {
            return note.starts_with("--factor " + fact + ":");
        });
    });
    judgement.winner_not_shared = mark_not_shared(judgement.comparison);
    judgement.identical = is_identical(judgement.comparison, question.switches);
    add_notes(judgement);
    return judgement;
}

}  // namespace opgauge
