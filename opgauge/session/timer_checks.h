// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/measure/conformance.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// What a conversation knows of its device's timers: from a kept record, or from its own child,
// which is asked to check them before its first test.
class TimerChecks {
  public:
    // Called once, when the child has told its facts or can no longer tell them.
    using Sink = std::function<void(const Json& facts, const Result<Conformance>& judged)>;

    TimerChecks() = default;  // nothing is known and nothing is asked
    explicit TimerChecks(Conformance known) : known_(std::move(known)) {}
    TimerChecks(std::vector<std::string> timers, Sink sink)
        : asked_(std::move(timers)), sink_(std::move(sink)) {}

    // The timers that the child is to check; empty: none, or none any more.
    const std::vector<std::string>& asked() const { return asked_; }
    // The child's job with them, where there are any.
    Json ask_in(Json job) const;
    // The protocol's message `conformance`.
    void take(const Json& message);
    // A child that may measure has ended. True where it died of the check: another one, which is
    // not asked, can measure all the same.
    bool child_ended(const std::string& why);

    double floor_of(std::string_view timer, int calls) const;
    // True for timers that nothing is known of.
    bool conforms(std::string_view timer) const;

  private:
    void finish(const Json& facts, const Result<Conformance>& judged);

    std::vector<std::string> asked_;
    Sink sink_;
    std::optional<Conformance> known_;
};

// The timers that a child checks where one of them is the run's: a graph is timed with events.
// Empty: the timer has no floor of its own.
std::vector<std::string> timers_to_check(const std::string& timer);

// The checks of a run. Takes the kept record where there is one, or keeps what the child tells;
// `identity` gets the summary in /timer/conformance, then or now, and must outlive the checks.
TimerChecks open_timer_checks(const std::string& timer, const Json& setup,
                              const Environment& environment, const Clock& clock, Json& identity);

}  // namespace opgauge
