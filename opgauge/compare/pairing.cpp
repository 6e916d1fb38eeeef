// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/pairing.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

namespace opgauge {
namespace {

// Measurements of one arm that mean the same: one timer, the same flags of meaning.
struct Group {
    std::size_t timer = 0;
    std::vector<std::string> flags;
    std::vector<const Measurement*> members;
};

struct Usable {
    std::vector<Group> groups;
    std::set<std::string> flags;  // kinds that kept measurements out
    std::string trouble;          // of the first that has no value
};

std::vector<std::string> meaning_of(const Measurement& measurement) {
    std::set<std::string> kinds;
    for (const auto& flag : measurement.flags) {
        if (is_flag_of_meaning(flag)) kinds.insert(flag_kind(flag));
    }
    return {kinds.begin(), kinds.end()};
}

void add_to_group(std::vector<Group>& groups, const Measurement& measurement) {
    const std::vector<std::string> flags = meaning_of(measurement);
    for (auto& group : groups) {
        if (group.timer != measurement.timer || group.flags != flags) continue;
        group.members.push_back(&measurement);
        return;
    }
    groups.push_back({measurement.timer, flags, {&measurement}});
}

// Sorts the measurements of a case, and counts those that are left out.
Usable usable_of(const ArmCase& work, Pairing& result) {
    Usable usable;
    for (const auto& measurement : work.measurements) {
        if (!measurement.trouble.empty()) {
            ++result.failed_measurements;
            if (usable.trouble.empty()) usable.trouble = measurement.trouble;
            continue;
        }
        std::set<std::string> kinds;
        for (const auto& flag : measurement.flags) {
            if (!is_flag_of_meaning(flag)) kinds.insert(flag_kind(flag));
        }
        for (const auto& kind : kinds) ++result.flagged[kind];
        usable.flags.insert(kinds.begin(), kinds.end());
        if (kinds.empty()) add_to_group(usable.groups, measurement);
    }
    return usable;
}

std::string joined(const std::set<std::string>& words) {
    const std::vector<std::string> list(words.begin(), words.end());
    return join(list, ",");
}

// Why one arm has nothing to compare, or nullopt where it has.
std::optional<LeftOut> nothing_usable(const ArmCase& work, const Usable& usable,
                                      std::string_view arm) {
    if (!usable.groups.empty()) return std::nullopt;
    if (!usable.flags.empty()) {
        return LeftOut{LeftOutKind::flagged, &work, arm, joined(usable.flags)};
    }
    return LeftOut{LeftOutKind::failed, &work, arm, usable.trouble};
}

bool may_pair(const TimerUse& left, const TimerUse& right, std::span<const std::string> allowed) {
    return is_allowed(left.name == right.name ? kTimerSettingsFact : kTimerFact, allowed);
}

struct Match {
    const Group* a = nullptr;
    const Group* b = nullptr;
};

// The two groups of equal meaning that have most measurements on the side that has fewer.
Match best_match(const Usable& a, const Usable& b, const TimerTable& timers,
                 std::span<const std::string> allowed) {
    Match best;
    std::tuple<std::size_t, std::size_t> most{0, 0};
    for (const auto& left : a.groups) {
        for (const auto& right : b.groups) {
            const bool same = left.timer == right.timer;
            if (left.flags != right.flags) continue;
            if (!same && !may_pair(timers[left.timer], timers[right.timer], allowed)) continue;
            const std::size_t m = left.members.size();
            const std::size_t n = right.members.size();
            const std::tuple size{std::min(m, n), m + n};
            if (size <= most) continue;
            most = size;
            best = {&left, &right};
        }
    }
    return best;
}

Json timer_json(const TimerUse& use, bool with_settings) {
    return with_settings ? use.settings : Json(use.name);
}

// Both arms have values, but none of them mean the same.
LeftOut mismatch(const ArmCase& work, const Group& a, const Group& b, const TimerTable& timers,
                 Pairing& result) {
    const TimerUse& left = timers[a.timer];
    const TimerUse& right = timers[b.timer];
    if (a.timer == b.timer) {
        const std::string detail =
            fmt::format("A: {}; B: {}", a.flags.empty() ? "no flag" : join(a.flags, ","),
                        b.flags.empty() ? "no flag" : join(b.flags, ","));
        return {LeftOutKind::flagged, &work, "", detail};
    }
    const bool same_name = left.name == right.name;
    FactDifference difference{std::string(same_name ? kTimerSettingsFact : kTimerFact), "A",
                              timer_json(left, same_name), "B", timer_json(right, same_name)};
    const std::string detail = to_text(difference);
    const bool known =
        std::any_of(result.timer_differences.begin(), result.timer_differences.end(),
                    [&](const FactDifference& other) { return to_text(other) == detail; });
    if (!known) result.timer_differences.push_back(std::move(difference));
    return {LeftOutKind::timers_differ, &work, "", detail};
}

// Tuned separately: not all measurements of a pair used the same winners.
void note_winners(const Arm& a, const Pair& pair, Pairing& result) {
    if (result.winners) return;
    const Measurement& first = *pair.from_a.front();
    const auto differs = [&](const Measurement* other) { return other->winners != first.winners; };
    const auto value = [](const Measurement& measurement) {
        return measurement.winners.empty() ? Json("none") : Json(measurement.winners);
    };
    const auto name = [&](const Measurement& measurement) {
        const auto& run = a.runs[measurement.run].directory;
        return fmt::format("A in {}", printable(run.filename().string()));
    };
    const auto in_b = std::find_if(pair.from_b.begin(), pair.from_b.end(), differs);
    const auto in_a = std::find_if(pair.from_a.begin(), pair.from_a.end(), differs);
    FactDifference difference{std::string(kWinnersFact), "A", value(first), "B", nullptr};
    if (in_b != pair.from_b.end()) {
        difference.right = value(**in_b);
    } else if (in_a != pair.from_a.end()) {
        difference.left_name = name(first);
        difference.right_name = name(**in_a);
        difference.right = value(**in_a);
    } else {
        return;
    }
    result.winners = std::move(difference);
    result.tuned_operator = pair.a->operator_name;
}

void pair_cases(const ArmCase& in_a, const ArmCase& in_b, const TimerTable& timers,
                std::span<const std::string> allowed, Pairing& result) {
    const Usable a = usable_of(in_a, result);
    const Usable b = usable_of(in_b, result);
    auto left_out = nothing_usable(in_a, a, "A");
    auto without_b = nothing_usable(in_b, b, "B");
    // A case that failed in B must not hide behind a flag in A.
    const bool only_b_failed = without_b && without_b->kind == LeftOutKind::failed &&
                               !(left_out && left_out->kind == LeftOutKind::failed);
    if (!left_out || only_b_failed) left_out = std::move(without_b);
    if (left_out) {
        result.left_out.push_back(std::move(*left_out));
        return;
    }
    const Match match = best_match(a, b, timers, allowed);
    if (match.a == nullptr) {
        result.left_out.push_back(
            mismatch(in_a, a.groups.front(), b.groups.front(), timers, result));
        return;
    }
    for (const auto* usable : {&a, &b}) {
        for (const auto& group : usable->groups) {
            if (&group == match.a || &group == match.b) continue;
            result.other_timer_measurements += group.members.size();
        }
    }
    result.pairs.push_back({&in_a, &in_b, match.a->members, match.b->members, match.a->flags});
}

}  // namespace

std::string_view name_of(LeftOutKind kind) {
    switch (kind) {
        case LeftOutKind::only_in_a:
            return "only in A";
        case LeftOutKind::only_in_b:
            return "only in B";
        case LeftOutKind::failed:
            return "failed";
        case LeftOutKind::flagged:
            return "flagged";
        case LeftOutKind::timers_differ:
            return "timers differ";
    }
    return "failed";
}

std::string flag_kind(std::string_view flag) {
    return std::string(flag.substr(0, flag.find_first_of(":=")));
}

bool is_flag_of_meaning(std::string_view flag) {
    constexpr std::array<std::string_view, 3> kOfMeaning = {"host_in_sample", "no_device_hold",
                                                            "neighbours"};
    const std::string kind = flag_kind(flag);
    return std::find(kOfMeaning.begin(), kOfMeaning.end(), kind) != kOfMeaning.end();
}

Pairing pair_up(const Arm& a, const Arm& b, const TimerTable& timers,
                std::span<const std::string> allowed) {
    std::vector<const std::string*> keys(a.cases.size());
    for (const auto& [key, place] : a.by_key) keys[place] = &key;
    Pairing result;
    for (std::size_t i = 0; i < a.cases.size(); ++i) {
        const auto found = b.by_key.find(*keys[i]);
        if (found == b.by_key.end()) {
            result.left_out.push_back({LeftOutKind::only_in_a, &a.cases[i], "", ""});
        } else {
            pair_cases(a.cases[i], b.cases[found->second], timers, allowed, result);
        }
    }
    keys.assign(b.cases.size(), nullptr);
    for (const auto& [key, place] : b.by_key) keys[place] = &key;
    for (std::size_t i = 0; i < b.cases.size(); ++i) {
        if (a.by_key.count(*keys[i]) > 0) continue;
        result.left_out.push_back({LeftOutKind::only_in_b, &b.cases[i], "", ""});
    }
    for (const auto& pair : result.pairs) note_winners(a, pair, result);
    return result;
}

}  // namespace opgauge
