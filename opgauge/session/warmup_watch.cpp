// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warmup_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

// Of a shard that did not tell its own. It may have been stopped for what it said, not by anybody.
const char* status_of(const Outcome& outcome) {
    if (std::holds_alternative<TimedOut>(outcome)) return "timeout";
    const auto* stopped = std::get_if<Stopped>(&outcome);
    if (stopped == nullptr) return "crashed";
    return stopped->signal != 0 ? "interrupted" : "failed";
}

}  // namespace

WarmupWatch::WarmupWatch(const std::vector<std::string>& devices, std::size_t expected,
                         const Clock& clock, RunObserver& observer)
    : clock_(clock), observer_(observer), begin_(clock.now()), expected_(expected) {
    for (const auto& device : devices) {
        Shard shard;
        shard.end.device = device;
        shard.progress.shard = static_cast<int>(shards_.size());
        shard.progress.shards = static_cast<int>(devices.size());
        shard.progress.device = device;
        if (expected > 0) shard.progress.total = static_cast<int>(expected);
        shards_.push_back(std::move(shard));
    }
}

void WarmupWatch::on_message(std::size_t worker, const Json& message) {
    Shard& shard = shards_.at(worker);
    const std::string type = get_string(message, "type");
    if (type == "begin" || type == "left" || type == "case") {
        take_case(static_cast<int>(worker), shard, message);
    } else if (type == "planned") {
        take_planned(shard, message);
    } else if (type == "tuning") {
        shard.progress.kernel = get_string(message, "kernel");
    } else if (type == "ended") {
        shard.told_end = true;
        shard.end.status = get_string(message, "status");
        shard.end.reason = get_string(message, "reason");
        shard.progress.ended = true;
    }
    shard.end.seconds = std::chrono::duration<double>(clock_.now() - begin_).count();
    if (type != "left" && type != "planned") tell(shard);
}

// Of each test its cases are told when it begins: the total grows with the tests that have.
void WarmupWatch::take_planned(Shard& shard, const Json& message) {
    if (expected_ > 0) return;
    shard.planned[get_string(message, "test")] = get_optional<int>(message, "cases").value_or(0);
    int total = 0;
    for (const auto& [test, cases] : shard.planned) total += cases;
    shard.progress.total = total;
}

void WarmupWatch::take_case(int worker, Shard& shard, const Json& message) {
    const std::string id = get_string(message, "id");
    const std::string type = get_string(message, "type");
    const auto [place, fresh] = cases_.try_emplace(id);
    KnownCase& known = place->second;
    if (fresh) order_.push_back(id);
    if (type == "case") {
        const bool ok = get_optional<bool>(message, "ok").value_or(false);
        known.warmed = known.warmed || ok;
        if (!ok) known.reason = get_string(message, "reason");
        if (ok) ++shard.end.tuned;
        ++shard.end.cases;
        if (ok) costs_[id] = get_optional<double>(message, "seconds").value_or(0);
    } else {
        known.name = get_string(message, "name");
        // A shard's own word names the owner; a case begun by two is the first one's.
        if (type == "left") known.owner = get_optional<int>(message, "owner").value_or(0);
        if (type == "begin" && fresh) known.owner = worker;
        if (type == "left") ++shard.end.cases;
    }
    shard.progress.done = shard.end.cases;
    shard.progress.tuned = shard.end.tuned;
}

void WarmupWatch::tell(Shard& shard) {
    shard.progress.elapsed = clock_.now() - begin_;
    observer_.on_shard(shard.progress);
}

std::vector<ShardEnd> WarmupWatch::shards(const std::vector<Outcome>& outcomes) const {
    std::vector<ShardEnd> ends;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        ShardEnd end = shards_[i].end;
        if (!shards_[i].told_end) {
            end.status = status_of(outcomes[i]);
            end.reason = to_text(outcomes[i]);
        }
        ends.push_back(std::move(end));
    }
    return ends;
}

std::vector<NotWarmed> WarmupWatch::not_warmed(const std::vector<ShardEnd>& ends) const {
    std::vector<NotWarmed> list;
    for (const auto& id : order_) {
        const KnownCase& known = cases_.at(id);
        if (known.warmed) continue;
        const auto& owner = ends.at(static_cast<std::size_t>(
            std::clamp(known.owner, 0, static_cast<int>(ends.size()) - 1)));
        std::string reason = known.reason;
        if (reason.empty()) reason = fmt::format("shard {} {}", known.owner, owner.status);
        list.push_back({known.name, known.owner, std::move(reason)});
    }
    return list;
}

}  // namespace opgauge
