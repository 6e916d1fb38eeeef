// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/timer_checks.h"

#include "opgauge/session/conformance.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {
namespace {

void note(Json& identity, const KeptConformance& kept) {
    identity["timer"]["conformance"] = conformance_summary(kept);
}

void note_unknown(Json& identity, const std::string& why) {
    identity["timer"]["conformance"] = nullptr;
    identity["unknown"]["timer.conformance"] = why;
}

}  // namespace

Json TimerChecks::ask_in(Json job) const {
    if (!asked_.empty()) job["conformance"] = asked_;
    return job;
}

void TimerChecks::take(const Json& message) {
    const Json facts = message.value("facts", Json(nullptr));
    finish(facts, judge_conformance(facts));
}

bool TimerChecks::child_ended(const std::string& why) {
    if (asked_.empty()) return false;
    finish(nullptr, fail(ErrorKind::failed, "checking the timers: " + why));
    return true;
}

void TimerChecks::finish(const Json& facts, const Result<Conformance>& judged) {
    if (asked_.empty()) return;  // told unasked
    asked_.clear();
    if (judged) known_ = *judged;
    if (sink_) sink_(facts, judged);
}

double TimerChecks::floor_of(std::string_view timer, int calls) const {
    return known_ ? known_->floor_of(timer, calls) : 0;
}

bool TimerChecks::conforms(std::string_view timer) const {
    return !known_ || known_->conforms(timer);
}

std::vector<std::string> timers_to_check(const std::string& timer) {
    if (timer == "graph") return {"event", "graph"};
    if (timer == "event") return {"event"};
    return {};
}

TimerChecks open_timer_checks(const std::string& timer, const Json& setup,
                              const Environment& environment, const Clock& clock, Json& identity) {
    const auto timers = timers_to_check(timer);
    if (timers.empty()) {
        note_unknown(identity, fmt::format("timer {} has no floor of its own", timer));
        return {};
    }
    const auto file = conformance_file(environment, setup);
    const auto kept = read_conformance(file);
    if (kept && kept->judged.covers(timer)) {
        note(identity, *kept);
        return TimerChecks(kept->judged);
    }
    note_unknown(identity, "the child has not told");
    const auto keep = [file, setup, &clock, &identity](const Json& facts,
                                                       const Result<Conformance>& judged) {
        if (!judged) return note_unknown(identity, judged.error().message);
        const KeptConformance made{setup, utc_text(clock.wall_time()), facts, *judged};
        // A cache that cannot be written costs a check in the next run, nothing else.
        static_cast<void>(write_conformance(file, made));
        note(identity, made);
        identity["unknown"].erase("timer.conformance");
    };
    return {timers, keep};
}

}  // namespace opgauge
