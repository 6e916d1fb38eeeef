// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/lost_case.h"

#include "opgauge/session/case_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace opgauge {
namespace {

// Worst first.
constexpr std::array<std::pair<const char*, const char*>, 5> kWords = {
    {{LostKind::kCrashed, "crashed"},
     {LostKind::kTimeout, "timed out"},
     {LostKind::kOom, "ran out of memory"},
     {LostKind::kDeviceLost, "lost the device"},
     {LostKind::kChildEnded, "ended the child"}}};

}  // namespace

std::string lost_kind(const Outcome& outcome) {
    if (std::holds_alternative<Signaled>(outcome)) return LostKind::kCrashed;
    if (std::holds_alternative<TimedOut>(outcome)) return LostKind::kTimeout;
    const auto* stopped = std::get_if<Stopped>(&outcome);
    if (stopped != nullptr && stopped->signal != 0) return LostKind::kInterrupted;
    return LostKind::kChildEnded;
}

std::optional<LostCase> lost_case(const Row& row) {
    const std::string kind = get_string(row.error, "kind");
    if (row.status != RowStatus::failed || lost_words(kind).empty()) return std::nullopt;
    return LostCase{kind, case_name(row), row.reason};
}

std::string lost_words(const std::string& kind) {
    const auto* found = std::find_if(kWords.begin(), kWords.end(),
                                     [&](const auto& entry) { return entry.first == kind; });
    return found == kWords.end() ? std::string() : found->second;
}

std::string worst_kind(const std::vector<LostCase>& lost) {
    for (const auto& [kind, words] : kWords) {
        const auto is_kind = [kind = kind](const LostCase& one) { return one.kind == kind; };
        if (std::any_of(lost.begin(), lost.end(), is_kind)) return kind;
    }
    return {};
}

std::string losses_text(const std::vector<LostCase>& lost, int rows) {
    std::vector<std::string> parts;
    for (const auto& [kind, words] : kWords) {
        const LostCase* first = nullptr;
        int count = 0;
        for (const auto& one : lost) {
            if (one.kind != kind) continue;
            if (!one.in_case) {
                parts.push_back(fmt::format("{} {}: {}", one.what, words, one.reason));
                continue;
            }
            if (first == nullptr) first = &one;
            ++count;
        }
        if (first == nullptr) continue;
        parts.push_back(fmt::format("{} of {} cases {}, first {}: {}", count, rows, words,
                                    first->what, first->reason));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace opgauge
