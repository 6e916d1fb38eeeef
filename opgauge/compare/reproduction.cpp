// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/reproduction.h"

#include "opgauge/base/text.h"
#include "opgauge/compare/evidence.h"
#include "opgauge/compare/facts.h"
#include "opgauge/compare/pairing.h"
#include "opgauge/compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace opgauge {
namespace {

// Rows and what is known of each, over both sides: they are one family of tests.
struct Judged {
    std::vector<ReproducedRow> rows;
    std::vector<Evidence> evidence;
    std::vector<ReproducedRow> without;  // a number in both runs
    std::set<std::string> told;          // cases in `without`, each once
};

ReproducedRow row_of(const ArmCase& work, Side side) {
    ReproducedRow row;
    row.operator_name = work.operator_name;
    row.dtype = work.dtype;
    row.shapes = work.shapes;
    row.side = side;
    return row;
}

Result<void> check_calibers(const Arm& then, const Arm& now, const Pairing& pairing) {
    std::vector<FactDifference> differences = arm_differences(then, now);
    if (pairing.winners) differences.push_back(*pairing.winners);
    if (differences.empty()) return {};
    std::vector<std::string> texts;
    for (auto& difference : differences) {
        difference.left_name = "then";
        difference.right_name = "now";
        texts.push_back(to_text(difference));
    }
    return fail(ErrorKind::refused,
                fmt::format("the run cannot be verified: its caliber was not met: {}; the new run "
                            "was kept in {}",
                            join(texts, ", "), now.runs.front().directory.string()));
}

// Missing or failed now is a number that did not come again; what was none then cannot come again.
Reproduced without_number(const LeftOut& left_out) {
    const bool now_only = left_out.kind == LeftOutKind::failed && left_out.arm == "B";
    return left_out.kind == LeftOutKind::only_in_a || now_only ? Reproduced::no
                                                               : Reproduced::unknown;
}

std::string why_without(const LeftOut& left_out) {
    if (left_out.kind == LeftOutKind::only_in_a) return "the case did not come again";
    if (left_out.kind == LeftOutKind::only_in_b) return "the case was not in the recorded run";
    const std::string_view whose = left_out.arm == "A"   ? "then "
                                   : left_out.arm == "B" ? "now "
                                                         : "";
    return fmt::format("{}{}: {}", whose, name_of(left_out.kind), left_out.detail);
}

void add_left_out(const Pairing& pairing, Side side, Judged& judged) {
    for (const auto& left_out : pairing.left_out) {
        // A side that was not recorded: the corpus has one side only.
        if (left_out.arm == "A" && left_out.detail == fmt::format("no {}", name_of(side))) continue;
        ReproducedRow row = row_of(*left_out.work, side);
        row.reproduced = without_number(left_out);
        row.why = why_without(left_out);
        if (judged.told.insert(left_out.work->case_id + row.why).second) {
            judged.without.push_back(std::move(row));
        }
    }
}

Result<void> add_side(const std::filesystem::path& recorded, const std::filesystem::path& again,
                      Side side, const ReproductionSettings& settings, Judged& judged) {
    const What what = side == Side::base ? What::base : What::candidate;
    TimerTable timers;
    const std::array<std::string, 1> then_path = {recorded.string()};
    const std::array<std::string, 1> now_path = {again.string()};
    OPGAUGE_TRY_ASSIGN(const Arm then, read_arm("A", then_path, what, timers));
    OPGAUGE_TRY_ASSIGN(const Arm now, read_arm("B", now_path, what, timers));
    const Pairing pairing = pair_up(then, now, timers, {});
    OPGAUGE_TRY(check_calibers(then, now, pairing));
    const ProcessNoise noise({}, settings.process_noise);  // no pairs: no side is a control
    BlockSource then_blocks(then, what);
    BlockSource now_blocks(now, what);
    const VerdictSettings verdict{settings.fdr, settings.at_least};
    for (const auto& pair : pairing.pairs) {
        ReproducedRow row = row_of(*pair.a, side);
        row.then_ns = pair.from_a.front()->value;
        row.now_ns = pair.from_b.front()->value;
        row.noise = noise.between(*pair.from_a.front(), *pair.from_b.front());
        judged.rows.push_back(std::move(row));
        judged.evidence.push_back(evidence_of(pair, verdict, noise, then_blocks, now_blocks));
    }
    add_left_out(pairing, side, judged);
    return {};
}

// Whether all that the interval holds differs by more than matters.
bool lies_outside(const std::pair<double, double>& interval, double at_least) {
    return interval.first > 1 + at_least || interval.second < 1 - at_least;
}

void take_verdict(const RowVerdict& verdict, double at_least, ReproducedRow& row) {
    row.ratio = verdict.ratio;
    row.interval = verdict.interval;
    if (!verdict.interval) {
        row.why = "too few samples for an interval (a timer that gives one number has none)";
        return;
    }
    const bool differs = verdict.verdict == Verdict::faster || verdict.verdict == Verdict::slower;
    if (!differs && lies_outside(*verdict.interval, at_least)) {
        row.why =
            "differs, but too little is known to say so of this many rows: more samples, or "
            "more processes";
        return;
    }
    row.reproduced = differs ? Reproduced::no : Reproduced::yes;
    if (differs) row.why = fmt::format("{} than then", name_of(verdict.verdict));
}

}  // namespace

std::string_view name_of(Reproduced reproduced) {
    switch (reproduced) {
        case Reproduced::yes:
            return "reproduced";
        case Reproduced::no:
            return "not reproduced";
        case Reproduced::unknown:
            return "unknown";
    }
    return "unknown";
}

std::size_t Reproduction::count(Reproduced reproduced) const {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(),
                      [&](const ReproducedRow& row) { return row.reproduced == reproduced; }));
}

Result<Reproduction> reproduce(const std::filesystem::path& recorded,
                               const std::filesystem::path& again,
                               const ReproductionSettings& settings) {
    Judged judged;
    for (const Side side : {Side::base, Side::candidate}) {
        OPGAUGE_TRY(add_side(recorded, again, side, settings, judged));
    }
    const VerdictSettings verdict{settings.fdr, settings.at_least};
    const std::vector<RowVerdict> verdicts = judge_all(judged.evidence, verdict);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        take_verdict(verdicts[i], settings.at_least, judged.rows[i]);
    }
    Reproduction result{std::move(judged.rows)};
    for (auto& row : judged.without) result.rows.push_back(std::move(row));
    return result;
}

}  // namespace opgauge
