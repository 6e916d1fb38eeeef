// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/conversation.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

constexpr int kProtocolVersion = 1;
constexpr std::size_t kKeptLogLines = 200;

}  // namespace

Conversation::Conversation(JobSettings job, CaptureMemory memory, DeviceWatch& watch,
                           const Clock& clock, RunObserver& observer, RowSink row_sink,
                           DeviceSink device_sink, TuningDesk* desk)
    : job_(std::move(job)),
      clock_(clock),
      observer_(observer),
      row_sink_(std::move(row_sink)),
      device_sink_(std::move(device_sink)),
      watch_(watch),
      desk_(desk == nullptr ? off_ : *desk),
      timers_(job_.timer, job_.fallback_timer, std::move(memory)),
      kept_(job_.kept.rows) {
    keep_earlier(job_.kept);
}

std::optional<Json> Conversation::on_message(const Json& message) {
    if (stopping_) return std::nullopt;
    const std::string type = get_string(message, "type");
    follow_time(type, message);
    auto said = answer(type, message);
    follow_answer(said);
    return said;
}

std::optional<Json> Conversation::answer(const std::string& type, const Json& message) {
    if (type == "hello") return job_.timer_checks.ask_in(answer_hello(message));
    if (type == "device") return answer_device(message);
    if (type == "case_begin") return answer_case_begin(message);
    if (type == "side_begin") return answer_side_begin(message);
    if (type == "samples") return answer_samples(message);
    if (type == "capture_failed") return answer_capture_failed(message);
    if (type == "turn") return answer_turn();
    if (type == "winner" || type == "winner_failed") return answer_tuning(type, message);
    if (type == "collected") {
        take_collected(message);
    } else if (type == "test_begin") {
        current_node_ = get_string(message, "node");
        last_case_ = -1;
    } else if (type == "conformance") {
        job_.timer_checks.take(message);
    } else if (type == "case_end") {
        take_case_end(message);
    } else if (type == "test_end") {
        take_test_end(message);
    } else if (type == "event") {
        take_event(message);
    } else if (type == "tuned") {
        take_tuned(message);
    } else if (type == "log") {
        take_log(message);
    } else if (type == "turn_end") {
        end_turn();
    } else if (type == "bye") {
        result_.said_bye = true;
    } else if (type != "side_end") {
        protocol_error(fmt::format("unknown message type '{}'", printable(type)));
    }
    return std::nullopt;
}

void Conversation::on_tick() {
    watch_.tick();
    observer_.on_tick();
}

std::chrono::milliseconds Conversation::tick_interval() const {
    constexpr std::chrono::milliseconds kOften{2};
    return watch_.in_burst() || waiting_ ? kOften : kUsualTick;
}

void Conversation::take_log(const Json& message) {
    const std::string text = printable(get_string(message, "text"));
    if (get_string(message, "level") == "error" && !result_.child_error) result_.child_error = text;
    if (result_.log.size() < kKeptLogLines) result_.log.push_back(text);
}

std::optional<std::string> Conversation::wants_stop() {
    if (result_.protocol_error) return "protocol error: " + *result_.protocol_error;
    if (result_.record_error) return "the run folder cannot be written: " + *result_.record_error;
    if (result_.store_error) return *result_.store_error;
    return std::nullopt;
}

Json Conversation::answer_hello(const Json& message) {
    ++result_.children;
    if (get_optional<bool>(message, "forked").value_or(false)) ++result_.forked;
    result_.said_bye = false;
    result_.hello = message;
    const auto protocol = get_optional<int>(message, "protocol");
    if (protocol != kProtocolVersion) {
        protocol_error(fmt::format("the child speaks protocol {}, this opgauge speaks {}",
                                   protocol ? std::to_string(*protocol) : "?", kProtocolVersion));
    }
    observer_.on_phase("loading the corpus");
    desk_.begin_child();
    Json job = {{"type", "job"},
                {"protocol", kProtocolVersion},
                {"backend", job_.backend},
                {"device", job_.device},
                {"timer", job_.timer},
                {"timer_settings", job_.timer_settings},
                {"check", job_.check_outputs},
                {"tune", tune_job()},
                {"skip_nodes", replacement_.skip_nodes()},
                {"select", job_.select}};
    if (job_.turn != nullptr) job["turns"] = true;
    return job;
}

Json Conversation::answer_device(const Json& message) {
    result_.device = message;
    result_.guard_refusal = device_mismatch(job_.backend, job_.device, message);
    if (result_.guard_refusal) return {{"type", "stop"}, {"reason", *result_.guard_refusal}};
    device_sink_(message);
    result_.replay_refusal = desk_.check_compiler(message);
    if (result_.replay_refusal) return {{"type", "stop"}, {"reason", *result_.replay_refusal}};
    observer_.on_phase("measuring");
    return {{"type", "go"}};
}

void Conversation::take_collected(const Json& message) {
    if (result_.collected) return;  // a child that replaces another collects less
    std::vector<std::string> nodes;
    for (const auto& test : job_.kept.tests) nodes.push_back(test.node);
    const auto found = get_optional<std::vector<std::string>>(message, "nodes");
    if (found) nodes.insert(nodes.end(), found->begin(), found->end());
    result_.collected = std::move(nodes);
    const auto errors = message.find("errors");
    if (errors == message.end() || !errors->is_array()) return;
    for (const auto& error : *errors) {
        result_.collect_errors.emplace_back(printable(get_string(error, "node")),
                                            printable(get_string(error, "message")));
    }
}

void Conversation::take_test_end(const Json& message) {
    if (open_) {
        open_->row.status = RowStatus::failed;
        open_->row.reason = "the test ended inside this case";
        close_case();
    }
    TestOutcome test = test_from(message);
    test.dtype_not_supported = dtype_unsupported_nodes_.contains(test.node);
    replacement_.test_finished(test.node);
    result_.tests.push_back(std::move(test));
    current_node_.clear();
}

void Conversation::follow_capture(const std::string& event, const Json& message) {
    if (!open_) return;
    if (event == "capture_begin") open_->capturing = get_string(message, "side");
    if (event == "capture_end") open_->capturing.clear();
}

void Conversation::take_event(const Json& message) {
    const std::string name = get_string(message, "name");
    follow_capture(name, message);
    if (name == "tuning") desk_.take_counts(message);
    if (name == "dtype_not_supported") dtype_unsupported_nodes_.insert(current_node_);
    const double seconds = get_optional<double>(message, "seconds").value_or(0);
    for (auto& event : result_.events) {
        if (get_string(event, "name") != name) continue;
        event["count"] = event["count"].get<int>() + 1;
        event["seconds"] = event["seconds"].get<double>() + seconds;
        return;
    }
    result_.events.push_back({{"name", name}, {"count", 1}, {"seconds", seconds}});
}

void Conversation::protocol_error(std::string text) {
    if (!result_.protocol_error) result_.protocol_error = std::move(text);
}

}  // namespace opgauge
