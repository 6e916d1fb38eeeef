// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/supervise_children.h"

#include "opgauge/run/signals.h"
#include "opgauge/session/stack_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

namespace opgauge {
namespace {

// The size of what earlier children wrote.
std::uintmax_t size_of(const std::filesystem::path& log) {
    std::error_code error;
    const auto size = std::filesystem::file_size(log, error);
    return error ? 0 : size;
}

std::string words_on(const Outcome& outcome, const std::filesystem::path& log,
                     std::uintmax_t log_begin) {
    std::string words = "the child " + to_text(outcome);
    const bool stalled = std::holds_alternative<TimedOut>(outcome);
    const auto frame = stalled ? innermost_frame_of(log, log_begin) : std::nullopt;
    if (frame) words += ", at " + *frame;
    return words;
}

// An interrupt that came while a child was being stopped for another reason, or between two.
std::optional<Outcome> interrupt_since(int signals) {
    if (SignalGuard::count() <= signals) return std::nullopt;
    const int number = SignalGuard::received();
    return Stopped{fmt::format("interrupted by SIG{}", ::sigabbrev_np(number)), number};
}

}  // namespace

Outcome supervise_children(const ChildSpec& spec, const ChildLimits& limits, const Clock& clock,
                           Conversation& conversation, RunObserver& observer, ChildSource* source) {
    using std::chrono::milliseconds;
    PlainChildren plain;
    ChildSource& children = source != nullptr ? *source : plain;
    observer.on_phase("starting the child");
    const auto begin = clock.now();
    const int signals = SignalGuard::count();
    while (true) {
        ChildLimits left = limits;
        if (left.total.count() > 0) {
            const auto spent = std::chrono::duration_cast<milliseconds>(clock.now() - begin -
                                                                        conversation.waited());
            left.total = std::max(milliseconds(1), left.total - spent);
        }
        const auto log_begin = size_of(spec.log_file);
        const Outcome outcome = supervise(spec, left, conversation, children);
        const std::string why = words_on(outcome, spec.log_file, log_begin);
        const bool another = conversation.child_ended(why, outcome);
        if (!another) return outcome;
        conversation.await_memory();
        if (auto interrupted = interrupt_since(signals)) return std::move(*interrupted);
        observer.on_phase("replacing the child");
    }
}

}  // namespace opgauge
