// SPDX-License-Identifier: Apache-2.0
// What a child asks and tells of tuning is handed on to the desk.
#include "opgauge/session/conversation.h"

namespace opgauge {

void Conversation::tuning_error(const Error& error) {
    if (error.kind == ErrorKind::failed) {
        protocol_error(error.message);
    } else if (!result_.store_error) {
        result_.store_error = error.message;
    }
}

Json Conversation::tune_job() const {
    Json job = {{"mode", name_of(desk_.mode())}};
    if (desk_.mode() == TuningMode::off) return job;
    job["compile_jobs"] = job_.compile_jobs;
    job["overlap"] = job_.overlap;
    job["timing"] = job_.tune_timing;
    return job;
}

std::optional<Json> Conversation::answer_tuning(const std::string& type, const Json& message) {
    auto answer = type == "winner" ? desk_.answer_winner(message) : desk_.answer_failed(message);
    if (!answer) {
        tuning_error(answer.error());
        return std::nullopt;
    }
    const std::string said = get_string(*answer, "type");
    if (said == "tune") observer_.on_tuning(get_string(message, "kernel", "a kernel"));
    if (said == "stop") result_.replay_refusal = desk_.refusal();
    return std::move(*answer);
}

// nullopt: the library does not tell who uses the device.
std::optional<bool> Conversation::alone_on_device() {
    const auto child = get_optional<long long>(result_.hello, "pid");
    const auto others = child ? watch_.others(*child) : std::nullopt;
    if (!others) return std::nullopt;
    if (open_ && !others->empty()) open_->flags.insert("shared_device");
    return others->empty();
}

void Conversation::take_tuned(const Json& message) {
    // Shards of a warm-up are neighbours through power and heat, also on devices of their own.
    const auto alone = job_.tune_only ? std::optional(false) : alone_on_device();
    const Conditions conditions = !alone   ? Conditions::unknown
                                  : *alone ? Conditions::quiet_serial
                                           : Conditions::noisy;
    const auto ended = desk_.take_tuned(message, conditions);
    if (!ended) return tuning_error(ended.error());
    if (!ended->empty()) observer_.on_tuning("");
}

// The digest and flags of what the case that is being closed used.
void Conversation::add_tuning(Row& row) {
    auto tuning = desk_.end_case(open_->winners);
    if (!tuning) return tuning_error(tuning.error());
    result_.tuning_seconds[row.case_id] += tuning->seconds;
    row.winners_digest = std::move(tuning->winners_digest);
    row.flags.insert(row.flags.end(), tuning->flags.begin(), tuning->flags.end());
}

}  // namespace opgauge
