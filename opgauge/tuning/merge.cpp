// SPDX-License-Identifier: Apache-2.0
#include "opgauge/tuning/merge.h"

#include "opgauge/base/text.h"
#include "opgauge/tuning/flaggems_key.h"
#include "opgauge/tuning/store_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace opgauge {
namespace {

// What the report is made of, by things that do not depend on the order of the stores.
class Comparison {
  public:
    void take(const std::string& store, const TunedConfig& winner) {
        const auto& key = winner.key;
        const std::string lookup = lookup_text(key.key);
        const std::string scope = to_line(to_json(winner.scope));
        scopes_.try_emplace(scope, winner.scope);
        auto& seen = keys_[{key.kernel, key.space, lookup, scope}];
        seen.push_back({store, winner.config, winner.times, winner.conditions});
        std::vector<std::string> names;
        for (const auto& [name, value] : winner.config.items()) names.push_back(printable(name));
        std::sort(names.begin(), names.end());
        const bool typed = key.key.is_array();
        fields_[{key.kernel, key.space, ""}]
               [fmt::format("{} + {}",
                            typed ? fmt::format("{} key parts", key.key.size())
                                  : std::string("a hashed key"),
                            join(names, " "))]
                   .insert(store);
        const auto hashed = typed ? hashed_key(key.key) : std::optional(key.key);
        if (hashed) {
            hashes_[{key.kernel, key.space, get_string(*hashed, "key_hash")}].insert(lookup);
        }
        if (std::isinf(winner.times.p50) || winner.times.p50 <= 0) {
            problems_.insert(fmt::format("{}: the winner of {} at {} has no usable time ({} ms)",
                                         store, printable(key.kernel), printable(lookup),
                                         winner.times.p50));
        }
    }

    void finish(MergeReport& report, const std::vector<Winner>& merged) const;

  private:
    struct Key {
        std::string kernel, space, lookup, scope;
        auto operator<=>(const Key&) const = default;
    };
    struct Name {
        std::string kernel, space, rest;
        auto operator<=>(const Name&) const = default;
    };
    std::map<Key, std::vector<MergeSide>> keys_;
    std::map<std::string, Scope> scopes_;  // by their text
    std::map<Name, std::map<std::string, std::set<std::string>>> fields_;
    std::map<Name, std::set<std::string>> hashes_;
    std::set<std::string> problems_;
};

void Comparison::finish(MergeReport& report, const std::vector<Winner>& merged) const {
    std::map<Key, Json> chosen;
    for (const auto& winner : merged) {
        chosen[{winner.key.kernel, winner.key.space, lookup_text(winner.key.key),
                to_line(to_json(winner.scope))}] = winner.config;
    }
    for (const auto& [key, sides] : keys_) {
        if (sides.size() > 1) ++report.keys_in_several_stores;
        std::set<std::string> configs;
        for (const auto& side : sides) configs.insert(config_id(side.config));
        if (configs.size() < 2) continue;
        auto sorted = sides;
        std::sort(sorted.begin(), sorted.end(),
                  [](const auto& a, const auto& b) { return a.store < b.store; });
        report.disagreements.push_back({key.kernel, key.space, key.lookup, scopes_.at(key.scope),
                                        std::move(sorted), chosen[key]});
    }
    for (const auto& [name, sets] : fields_) {
        if (sets.size() < 2) continue;
        std::string text = fmt::format("{} {}: sets of fields differ, no one table can hold them",
                                       printable(name.kernel), printable(name.space));
        for (const auto& [fields, stores] : sets) {
            const std::vector<std::string> where(stores.begin(), stores.end());
            text += fmt::format("; {} in {}", fields, join(where, ", "));
        }
        report.problems.push_back(text);
    }
    for (const auto& [name, lookups] : hashes_) {
        if (lookups.size() < 2) continue;
        report.problems.push_back(fmt::format(
            "{} {}: {} different keys have the hash {}, a reader by hash mixes them up",
            printable(name.kernel), printable(name.space), lookups.size(), printable(name.rest)));
    }
    report.problems.insert(report.problems.end(), problems_.begin(), problems_.end());
}

Result<void> take_winners(TuningStore& store, const std::string& label, Comparison& comparison,
                          std::int64_t& count) {
    OPGAUGE_TRY_ASSIGN(const auto winners, store.winners());
    for (const auto& winner : winners) comparison.take(label, winner);
    count += static_cast<std::int64_t>(winners.size());
    return {};
}

// Copies rows as texts; only the ids of spaces and scopes are those of the target.
Result<std::int64_t> copy_rows(TuningStore& from, StoreRows& into, SpaceKind kind) {
    return with_sqlite("read", from.database(), [&]() -> Result<std::int64_t> {
        std::map<std::int64_t, std::int64_t> spaces;
        std::map<std::int64_t, std::int64_t> scopes;
        for (const auto& [id, space] : spaces_of(from.database())) {
            if (space.kind == kind) spaces[id] = into.id_of(space);
        }
        for (const auto& [id, facts] : scopes_of(from.database())) {
            scopes[id] = into.id_of_scope(facts);
        }
        std::int64_t count = 0;
        for_each_row(from.database(), kind, {}, [&](const StoredRow& row) {
            const auto space = spaces.find(row.space_id);
            const auto scope = scopes.find(row.scope_id);
            if (space == spaces.end() || scope == scopes.end()) return;
            StoredRow copy = row;
            copy.space_id = space->second;
            copy.scope_id = scope->second;
            into.put(kind, copy);
            ++count;
        });
        return count;
    });
}

Result<void> check_sources(const std::filesystem::path& target,
                           std::span<const MergeSource> sources) {
    std::error_code error;
    for (const auto& source : sources) {
        if (!std::filesystem::equivalent(store_file(source.path), store_file(target), error)) {
            continue;
        }
        return fail(ErrorKind::usage,
                    fmt::format("cannot merge {} into itself: leave it out", target.string()));
    }
    return {};
}

std::string label_of(const MergeSource& source) {
    return source.label.empty() ? source.path.string() : source.label;
}

}  // namespace

Result<MergeReport> merge_stores(const std::filesystem::path& target,
                                 std::span<const MergeSource> sources,
                                 std::chrono::milliseconds wait) {
    OPGAUGE_TRY(check_sources(target, sources));
    std::vector<TuningStore> opened;
    for (const auto& source : sources) {
        OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(source.path, DatabaseAccess::read, wait));
        opened.push_back(std::move(store));
    }
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(target, DatabaseAccess::create, wait));
    MergeReport report;
    report.stores = sources.size();
    Comparison comparison;
    const auto written = with_sqlite("write", store.database(), [&]() -> Result<void> {
        SQLite::Transaction transaction(store.database(), SQLite::TransactionBehavior::IMMEDIATE);
        StoreRows rows(store.database());
        std::int64_t there_before = 0;
        OPGAUGE_TRY(take_winners(store, store.path().string(), comparison, there_before));
        for (std::size_t i = 0; i < opened.size(); ++i) {
            OPGAUGE_TRY(
                take_winners(opened[i], label_of(sources[i]), comparison, report.winners_read));
            OPGAUGE_TRY(copy_rows(opened[i], rows, SpaceKind::winners));
            OPGAUGE_TRY_ASSIGN(const std::int64_t timings,
                               copy_rows(opened[i], rows, SpaceKind::timings));
            report.timings_read += timings;
        }
        transaction.commit();
        return {};
    });
    OPGAUGE_TRY(written);
    OPGAUGE_TRY_ASSIGN(report.after, store.size());
    OPGAUGE_TRY_ASSIGN(const auto merged, store.winners());
    comparison.finish(report, merged);
    return report;
}

}  // namespace opgauge
