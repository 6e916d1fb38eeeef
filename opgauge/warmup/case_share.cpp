// SPDX-License-Identifier: Apache-2.0
#include "opgauge/warmup/case_share.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace opgauge {
namespace {

// Compiling costs the same for every size, timing grows with it. A guess that only has to put
// cases of very different sizes apart; known costs take its place.
constexpr double kElementsAsLongAsCompiling = 1e8;

// Between 0 and 1, the same in every process: std::hash promises nothing of the kind.
double fraction_of(const std::string& id) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char letter : id) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 1099511628211ULL;
    }
    // FNV leaves the high bits of short texts alike.
    hash ^= hash >> 32U;
    hash *= 0xd6e8feb86659fd93ULL;
    hash ^= hash >> 32U;
    return static_cast<double>(hash >> 11U) / static_cast<double>(1ULL << 53U);
}

std::map<std::string, int> longest_first(const CaseCosts& costs, int shards) {
    std::vector<std::pair<double, std::string>> cases;
    for (const auto& [id, seconds] : costs) cases.emplace_back(seconds, id);
    std::sort(cases.begin(), cases.end(), std::greater<>());
    std::vector<double> load(static_cast<std::size_t>(shards), 0.0);
    std::map<std::string, int> planned;
    for (const auto& [seconds, id] : cases) {
        const auto least = std::min_element(load.begin(), load.end());
        planned[id] = static_cast<int>(least - load.begin());
        *least += seconds;
    }
    return planned;
}

}  // namespace

double elements_of(const Json& shapes) {
    double sum = 0;
    if (!shapes.is_array()) return sum;
    for (const auto& shape : shapes) {
        if (!shape.is_array()) continue;
        double product = 1;
        for (const auto& size : shape) product *= size.is_number() ? size.get<double>() : 1;
        sum += product;
    }
    return sum;
}

CaseShare::CaseShare(int shards, WarmupOverlap overlap, CaseCosts costs)
    : shards_(std::max(1, shards)),
      overlap_(overlap),
      planned_(longest_first(costs, std::max(1, shards))) {}

int CaseShare::own_shard(const AnnouncedCase& announced) {
    if (const auto known = planned_.find(announced.id); known != planned_.end()) {
        return known->second;
    }
    auto& load = load_[announced.test];
    load.resize(static_cast<std::size_t>(shards_), 0.0);
    // Tests of one case each go round as well.
    const int first = announced.test % shards_;
    int best = first;
    for (int i = 1; i < shards_; ++i) {
        const int shard = (first + i) % shards_;
        if (load[static_cast<std::size_t>(shard)] < load[static_cast<std::size_t>(best)]) {
            best = shard;
        }
    }
    load[static_cast<std::size_t>(best)] += 1 + announced.elements / kElementsAsLongAsCompiling;
    return best;
}

bool CaseShare::tuned_twice(const AnnouncedCase& announced) {
    if (shards_ < 2) return false;
    const auto before = static_cast<int>(assigned_.size());
    if (overlap_.count) return before < *overlap_.count;
    return overlap_.share > 0 && (before == 0 || fraction_of(announced.id) < overlap_.share);
}

std::vector<int> CaseShare::shards_of(const AnnouncedCase& announced) {
    const std::pair place(announced.test, announced.index);
    // A child that takes another's place announces cases again.
    if (const auto known = assigned_.find(place); known != assigned_.end()) return known->second;
    const int own = own_shard(announced);
    std::vector<int> shards = {own};
    if (tuned_twice(announced)) shards.push_back((own + 1) % shards_);
    return assigned_[place] = shards;
}

}  // namespace opgauge
