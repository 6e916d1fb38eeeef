// SPDX-License-Identifier: Apache-2.0
// What the time between two messages went to: the messages tell, and the child's member `spent`
// what of it only the child can see.
#include "opgauge/session/conversation.h"

#include <array>
#include <string_view>
#include <utility>

namespace opgauge {
namespace {

// What begins with a message, unless its answer says otherwise.
constexpr std::array<std::pair<std::string_view, TimePart>, 7> kBegins = {
    {{"hello", TimePart::imports},
     {"conformance", TimePart::imports},
     {"test_begin", TimePart::inputs},
     {"case_begin", TimePart::first_calls},
     {"case_end", TimePart::inputs},
     {"test_end", TimePart::inputs},
     {"bye", TimePart::end}}};

// A child may say no more than this.
TimeParts parts_of_child(const Json& message) {
    TimeParts parts;
    const auto spent = message.find("spent");
    if (spent == message.end()) return parts;
    const auto said = time_parts_in(*spent);
    if (!said) return parts;
    for (const auto part : {TimePart::compile, TimePart::tune, TimePart::check}) {
        parts[part] = (*said)[part];
    }
    return parts;
}

}  // namespace

void Conversation::spend(TimePart part) {
    if (job_.time != nullptr) job_.time->turn_to(part);
}

void Conversation::follow_time(const std::string& type, const Json& message) {
    if (job_.time == nullptr || !message.is_object()) return;
    job_.time->take(parts_of_child(message));
    if (type == "device" && !job_.timer_checks.asked().empty()) spend(TimePart::check);
    for (const auto& [begins, part] : kBegins) {
        if (type == begins) spend(part);
    }
}

void Conversation::follow_answer(const std::optional<Json>& answer) {
    if (job_.time == nullptr) return;
    if (!answer) {
        if (!waiting_) return;
        waiting_->before = job_.time->part();
        return spend(TimePart::wait);
    }
    const std::string type = get_string(*answer, "type");
    if (type == "more" || type == "cool_down") spend(TimePart::measure);
    if (type == "enough") spend(TimePart::first_calls);
    if (type == "skip") spend(TimePart::inputs);
}

}  // namespace opgauge
