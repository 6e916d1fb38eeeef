// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/tuning/tuning_store.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace opgauge {

enum class MissReason {
    key_not_recorded,
    kernel_source_changed,
    config_list_changed,
    scope_differs,
    evicted,  // it was recorded, but did not work in this run
};
std::string_view name_of(MissReason reason);

struct Miss {
    MissReason reason = MissReason::key_not_recorded;
    std::vector<ScopeDifference> differences;  // both values; empty where there are none
};

struct Replayed {
    Winner winner;
    std::vector<ScopeDifference> accepted;  // facts that differ and were accepted by name
};

// Every winner of a kept run, read once; the source is not touched again and never changes.
class Replay {
  public:
    Replay(Replay&&) = default;
    Replay& operator=(Replay&&) = default;
    Replay(const Replay&) = delete;  // it points into itself
    Replay& operator=(const Replay&) = delete;
    ~Replay() = default;

    // `accepted` names facts of the scope that may differ (--accept-scope device_model).
    static Result<Replay> open(const std::filesystem::path& source,
                               std::set<std::string> accepted = {});

    std::variant<Replayed, Miss> find(const TuningKey& key, const Scope& now);
    // From now on this run misses at this key; nothing is claimed about the source.
    void evict(const TuningKey& key);

    std::size_t recorded() const { return recorded_; }
    std::size_t used() const { return used_.size(); }
    const std::string& digest() const { return digest_; }
    const std::map<std::string, std::vector<Winner>>& by_kernel() const { return by_kernel_; }
    // "0 of 4 recorded winners used".
    std::string summary() const;

  private:
    Replay() = default;
    std::vector<const Winner*> at_key(const TuningKey& key) const;
    const Winner* closest(const std::vector<const Winner*>& candidates, const Scope& now) const;
    bool acceptable(const std::vector<ScopeDifference>& differences) const;

    std::map<std::string, std::vector<Winner>> by_kernel_;
    std::unordered_map<std::string, std::vector<const Winner*>> at_;  // kernel and key: winners
    std::set<std::string> accepted_;
    std::set<std::string> evicted_;
    std::set<const Winner*> used_;
    std::size_t recorded_ = 0;
    std::string digest_;
};

// One line for the miss report: kernel, key, reason and both values.
std::string miss_text(const TuningKey& key, const Miss& miss);

}  // namespace opgauge
