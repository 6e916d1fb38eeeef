// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/conversation.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace opgauge {
namespace {

constexpr int kProtocolVersion = 1;
constexpr std::size_t kKeptLogLines = 200;

double value_or_nan(const Json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void add_values(SideSamples& side, const Json& values) {
    for (const auto& value : values) {
        const double nanoseconds = value_or_nan(value);
        if (auto reason = why_invalid(nanoseconds, 0)) {
            side.invalid.push_back(std::move(*reason));
        } else {
            side.values_ns.push_back(nanoseconds);
        }
    }
}

}  // namespace

Conversation::Conversation(JobSettings job, CaptureMemory memory, const Clock& clock,
                           RunObserver& observer, RowSink row_sink, DeviceSink device_sink)
    : job_(std::move(job)),
      clock_(clock),
      observer_(observer),
      row_sink_(std::move(row_sink)),
      device_sink_(std::move(device_sink)),
      timers_(job_.timer, job_.fallback_timer, std::move(memory)) {}

std::optional<Json> Conversation::on_message(const Json& message) {
    const std::string type = get_string(message, "type");
    if (type == "hello") return answer_hello(message);
    if (type == "device") return answer_device(message);
    if (type == "case_begin") return answer_case_begin(message);
    if (type == "side_begin") return answer_side_begin(message);
    if (type == "samples") return answer_samples(message);
    if (type == "capture_failed") return answer_capture_failed(message);
    if (type == "collected") {
        take_collected(message);
    } else if (type == "test_begin") {
        current_node_ = get_string(message, "node");
    } else if (type == "case_end") {
        take_case_end(message);
    } else if (type == "test_end") {
        take_test_end(message);
    } else if (type == "event") {
        take_event(message);
    } else if (type == "log") {
        if (result_.log.size() < kKeptLogLines) {
            result_.log.push_back(printable(get_string(message, "text")));
        }
    } else if (type == "bye") {
        result_.said_bye = true;
    } else if (type != "side_end") {
        protocol_error(fmt::format("unknown message type '{}'", printable(type)));
    }
    return std::nullopt;
}

void Conversation::on_tick() {
    observer_.on_tick();
}

std::optional<std::string> Conversation::wants_stop() {
    if (result_.protocol_error) return "protocol error: " + *result_.protocol_error;
    if (result_.record_error) return "the run folder cannot be written: " + *result_.record_error;
    return std::nullopt;
}

Json Conversation::answer_hello(const Json& message) {
    result_.said_hello = true;
    result_.hello = message;
    const auto protocol = get_optional<int>(message, "protocol");
    if (protocol != kProtocolVersion) {
        protocol_error(fmt::format("the child speaks protocol {}, this opgauge speaks {}",
                                   protocol ? std::to_string(*protocol) : "?", kProtocolVersion));
    }
    observer_.on_phase("loading the corpus");
    return {{"type", "job"},
            {"protocol", kProtocolVersion},
            {"backend", job_.backend},
            {"device", job_.device},
            {"timer", job_.timer},
            {"timer_settings", job_.timer_settings},
            {"check", job_.check_outputs},
            {"tune", {{"mode", "off"}}},
            {"skip_nodes", replacement_.skip_nodes()},
            {"select", job_.select}};
}

Json Conversation::answer_device(const Json& message) {
    result_.device = message;
    result_.guard_refusal = device_mismatch(job_.backend, job_.device, message);
    if (result_.guard_refusal) return {{"type", "stop"}, {"reason", *result_.guard_refusal}};
    device_sink_(message);
    observer_.on_phase("measuring");
    return {{"type", "go"}};
}

std::optional<Json> Conversation::answer_case_begin(const Json& message) {
    if (result_.device.is_null() || result_.guard_refusal) {
        protocol_error("a case began before the device was checked");
        return std::nullopt;
    }
    close_case();
    const auto member = message.find("case");
    auto work = case_from_json(member == message.end() ? Json(nullptr) : *member);
    if (!work) {
        protocol_error(work.error().message);
        return std::nullopt;
    }
    OpenCase open;
    open.index_in_test = get_optional<int>(message, "index").value_or(0);
    if (replacement_.is_done(current_node_, open.index_in_test)) {
        return Json{{"type", "skip"}, {"reason", "measured by the child before this one"}};
    }
    open.row.index = ++rows_begun_;
    open.row.work = std::move(*work);
    if (open.row.work.node.empty()) open.row.work.node = current_node_;
    open.row.case_id = case_id(open.row.work);
    open.row.status = RowStatus::ok;
    open.begin = clock_.now();
    const CaseTimer timer = timers_.choose(open.row.case_id, current_node_);
    open.row.fallback = timer.fallback;
    open.row.fallback_detail = timer.detail;
    open_ = std::move(open);
    observer_.on_case_begin(open_->row, get_optional<int>(message, "planned"));
    return Json{{"type", "measure"}, {"timer", timer.timer}, {"sides", {"base", "candidate"}}};
}

std::optional<Json> Conversation::answer_capture_failed(const Json& message) {
    Side side = Side::base;
    if (open_side(message, side) == nullptr) return std::nullopt;
    give_up_capture(get_string(message, "side"), get_string(message, "kind", "capture_refused"),
                    printable(get_string(message, "message")));
    return Json{{"type", "stop"}, {"reason", "another child measures this case without a graph"}};
}

// The open case is forgotten: both its sides are measured again, by another child.
void Conversation::give_up_capture(const std::string& side, const std::string& kind,
                                   const std::string& text) {
    timers_.failed({open_->row.case_id, side, kind, text, false}, current_node_);
    replacement_.repeat_case(current_node_, open_->index_in_test);
    --rows_begun_;
    open_.reset();
}

std::optional<SideSamples>& Conversation::samples_of(Side side) {
    return side == Side::base ? open_->base : open_->candidate;
}

std::optional<SideSamples>* Conversation::open_side(const Json& message, Side& side) {
    const auto named = side_named(get_string(message, "side"));
    if (!open_ || !named) {
        protocol_error(fmt::format("'{}' outside a case or without a side",
                                   printable(get_string(message, "type"))));
        return nullptr;
    }
    side = *named;
    return &samples_of(side);
}

std::optional<Json> Conversation::answer_side_begin(const Json& message) {
    Side side = Side::base;
    auto* samples = open_side(message, side);
    if (samples == nullptr) return std::nullopt;
    SideSamples fresh;
    fresh.timer = get_string(message, "timer", job_.timer);
    fresh.first_call_ns = get_optional<double>(message, "first_call_ns");
    fresh.estimate_ns = get_optional<double>(message, "estimate_ns");
    fresh.no_device_work = get_optional<bool>(message, "no_device_work").value_or(false);
    *samples = std::move(fresh);
    return next_step(side);
}

std::optional<Json> Conversation::answer_samples(const Json& message) {
    Side side = Side::base;
    auto* samples = open_side(message, side);
    if (samples == nullptr) return std::nullopt;
    if (!*samples) *samples = SideSamples{};
    SideSamples& taken = **samples;
    taken.timer = get_string(message, "timer", job_.timer);
    taken.settings = message.value("settings", Json::object());
    taken.calls_per_sample = get_optional<int>(message, "calls_per_sample").value_or(1);
    taken.complete = get_optional<bool>(message, "complete").value_or(false);
    const auto values = message.find("values_ns");
    if (values == message.end() || !values->is_array()) {
        protocol_error("'samples' without values_ns");
        return std::nullopt;
    }
    add_values(taken, *values);
    return next_step(side);
}

Json Conversation::next_step(Side side) {
    const SideSamples& samples = *samples_of(side);
    const auto decision = decide(stopping_for(job_.stopping, samples.timer), samples);
    if (const auto* more = std::get_if<MoreSamples>(&decision)) {
        return Json{{"type", "more"},
                    {"samples", more->samples},
                    {"calls_per_sample", more->calls_per_sample}};
    }
    auto& result = side == Side::base ? open_->row.base : open_->row.candidate;
    result = make_side_result(samples, std::get<Enough>(decision).reason);
    const auto& summary = result->summary;
    return Json{{"type", "enough"}, {"median_ns", summary ? Json(summary->median) : Json(nullptr)}};
}

void Conversation::take_collected(const Json& message) {
    if (result_.collected) return;  // a child that replaces another collects less
    result_.collected = get_optional<std::vector<std::string>>(message, "nodes")
                            .value_or(std::vector<std::string>{});
    const auto errors = message.find("errors");
    if (errors == message.end() || !errors->is_array()) return;
    for (const auto& error : *errors) {
        result_.collect_errors.emplace_back(printable(get_string(error, "node")),
                                            printable(get_string(error, "message")));
    }
}

void Conversation::take_case_end(const Json& message) {
    if (!open_) {
        protocol_error("'case_end' outside a case");
        return;
    }
    Row& row = open_->row;
    row.check = message.value("check", Json(nullptr));
    row.work_amount = message.value("work", Json(nullptr));
    row.flags = get_optional<std::vector<std::string>>(message, "flags").value_or(row.flags);
    if (!get_optional<bool>(row.check, "ok").value_or(true))
        row.flags.emplace_back("outputs_differ");
    if (row.candidate && row.candidate->timer == "graph") timers_.captured(row.case_id);
    const std::string status = get_string(message, "status", "ok");
    if (status != "ok") {
        row.status = status == "skipped" ? RowStatus::skipped : RowStatus::failed;
        row.error = message.value("error", Json(nullptr));
        row.reason = printable(get_string(row.error, "message", get_string(message, "reason")));
        const std::string kind = get_string(row.error, "kind");
        if (kind == "oom") result_.out_of_memory = true;
        if (kind == "device_lost") replacement_.go_on_behind_test();
    }
    close_case();
}

void Conversation::take_test_end(const Json& message) {
    if (open_) {
        open_->row.status = RowStatus::failed;
        open_->row.reason = "the test ended inside this case";
        close_case();
    }
    TestOutcome test;
    test.node = get_string(message, "node");
    test.outcome = get_string(message, "outcome");
    test.reason = printable(get_string(message, "reason"));
    test.seconds = get_optional<double>(message, "seconds").value_or(0);
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

void Conversation::close_case() {
    if (!open_) return;
    Row& row = open_->row;
    row.seconds = std::chrono::duration<double>(clock_.now() - open_->begin).count();
    judge(row);
    switch (row.status) {
        case RowStatus::ok:
            ++result_.rows_ok;
            break;
        case RowStatus::failed:
            ++result_.rows_failed;
            break;
        case RowStatus::invalid:
            ++result_.rows_invalid;
            break;
        case RowStatus::skipped:
            ++result_.rows_skipped;
            break;
    }
    if (!row.flags.empty()) ++result_.rows_flagged;
    if (auto written = row_sink_(row, open_->base, open_->candidate); !written) {
        result_.record_error = written.error().message;
    }
    observer_.on_row(row);
    open_.reset();
}

bool Conversation::child_ended(const std::string& why, const Outcome& outcome) {
    const bool stopped =
        !std::holds_alternative<Exited>(outcome) && !std::holds_alternative<Signaled>(outcome);
    if (open_ && !open_->capturing.empty() && !stopped) {
        give_up_capture(open_->capturing, "capture_crashed", why);
    }
    if (open_) {
        open_->row.status = RowStatus::failed;
        open_->row.reason = why;
        open_->row.error = {{"kind", "child_ended"}, {"message", why}};
        close_case();
    }
    current_node_.clear();
    const bool others = result_.collected && result_.tests.size() < result_.collected->size();
    return replacement_.take_wanted() && others && !stopped;
}

void Conversation::protocol_error(std::string text) {
    if (!result_.protocol_error) result_.protocol_error = std::move(text);
}

}  // namespace opgauge
