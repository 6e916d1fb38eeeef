// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/replay.h"

#include "opgauge/base/text.h"
#include "opgauge/tuning/flaggems_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

using Candidates = std::vector<const Winner*>;

std::string identity_of(const TuningKey& key) {
    return to_line(Json::array({key.kernel, key.space, lookup_text(key.key)}));
}

// An unknown hash on the recorded side may be of any source; the scope's comparison says so.
Candidates with_fact(const Candidates& all, std::string Scope::*fact, const Scope& now) {
    Candidates same;
    for (const Winner* winner : all) {
        const std::string& recorded = winner->scope.*fact;
        if (recorded.empty() || recorded == now.*fact) same.push_back(winner);
    }
    return same;
}

std::string place_of(const std::string& kernel, const std::string& lookup) {
    return kernel + '\n' + lookup;
}

Miss changed(MissReason reason, const char* fact, std::string recorded, std::string now) {
    return {reason, {{fact, std::move(recorded), std::move(now)}}};
}

// Why no winner of this kernel serves a key: the first reason that holds.
Miss miss_of(const std::vector<Winner>& winners, const Scope& now) {
    Candidates all;
    for (const auto& winner : winners) all.push_back(&winner);
    const Candidates of_source = with_fact(all, &Scope::kernel_source_hash, now);
    if (of_source.empty()) {
        return changed(MissReason::kernel_source_changed, "kernel_source_hash",
                       all.front()->scope.kernel_source_hash, now.kernel_source_hash);
    }
    const Candidates of_list = with_fact(of_source, &Scope::config_list_digest, now);
    if (!of_list.empty()) return {};
    return changed(MissReason::config_list_changed, "config_list_digest",
                   of_source.front()->scope.config_list_digest, now.config_list_digest);
}

}  // namespace

std::string_view name_of(MissReason reason) {
    constexpr std::array<std::string_view, 5> kNames = {"key not recorded", "kernel source changed",
                                                        "configuration list changed",
                                                        "scope differs", "evicted in this run"};
    return kNames.at(static_cast<std::size_t>(reason));
}

Result<Replay> Replay::open(const std::filesystem::path& source, std::set<std::string> accepted) {
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(source, DatabaseAccess::read));
    OPGAUGE_TRY_ASSIGN(auto winners, store.winners());
    Replay replay;
    replay.accepted_ = std::move(accepted);
    replay.recorded_ = winners.size();
    replay.digest_ = winners_digest(winners);
    for (auto& winner : winners) {
        replay.by_kernel_[winner.key.kernel].push_back(std::move(winner));
    }
    for (const auto& [kernel, all] : replay.by_kernel_) {
        for (const auto& winner : all) {
            replay.at_[place_of(kernel, lookup_text(winner.key.key))].push_back(&winner);
        }
    }
    return replay;
}

std::vector<const Winner*> Replay::at_key(const TuningKey& key) const {
    Candidates same;
    const auto add = [&](const Json& form) {
        const auto found = at_.find(place_of(key.kernel, lookup_text(form)));
        if (found == at_.end()) return;
        same.insert(same.end(), found->second.begin(), found->second.end());
    };
    add(key.key);
    // A tuner that hashes long keys leaves only the hash in an imported store.
    if (const auto hashed = hashed_key(key.key)) add(*hashed);
    return same;
}

bool Replay::acceptable(const std::vector<ScopeDifference>& differences) const {
    return std::all_of(differences.begin(), differences.end(),
                       [&](const auto& one) { return accepted_.contains(one.fact); });
}

const Winner* Replay::closest(const Candidates& candidates, const Scope& now) const {
    const auto distance = [&](const Winner* winner) {
        const auto differences = scope_differences(winner->scope, now);
        return std::pair(!acceptable(differences), differences.size());
    };
    return *std::min_element(candidates.begin(), candidates.end(),
                             [&](auto* a, auto* b) { return distance(a) < distance(b); });
}

std::variant<Replayed, Miss> Replay::find(const TuningKey& key, const Scope& now) {
    if (evicted_.contains(identity_of(key))) return Miss{MissReason::evicted, {}};
    const auto kernel = by_kernel_.find(key.kernel);
    if (kernel == by_kernel_.end()) return Miss{};
    Candidates found = with_fact(with_fact(at_key(key), &Scope::kernel_source_hash, now),
                                 &Scope::config_list_digest, now);
    if (found.empty()) return miss_of(kernel->second, now);
    std::stable_partition(found.begin(), found.end(),
                          [&](auto* winner) { return winner->key.space == key.space; });
    const Winner* best = closest(found, now);
    auto differences = scope_differences(best->scope, now);
    if (!acceptable(differences)) return Miss{MissReason::scope_differs, std::move(differences)};
    used_.insert(best);
    return Replayed{*best, std::move(differences)};
}

void Replay::evict(const TuningKey& key) {
    evicted_.insert(identity_of(key));
}

std::string Replay::summary() const {
    return fmt::format("{} of {} recorded winners used", used(), recorded());
}

std::string miss_text(const TuningKey& key, const Miss& miss) {
    std::string text = fmt::format("{} at {}: {}", printable(key.kernel),
                                   printable(lookup_text(key.key)), name_of(miss.reason));
    const auto shown = [](const std::string& value) {
        return value.empty() ? std::string("unknown") : printable(value);
    };
    for (const auto& one : miss.differences) {
        text += fmt::format("; {}: recorded {}, now {}", printable(one.fact), shown(one.recorded),
                            shown(one.now));
    }
    return text;
}

}  // namespace opgauge
