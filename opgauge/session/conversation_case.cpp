// SPDX-License-Identifier: Apache-2.0
// One case of the conversation: its sides, its samples, its row.
#include "opgauge/base/text.h"
#include "opgauge/session/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace opgauge {
namespace {

// What is no number becomes NaN, and so an invalid value.
std::vector<double> numbers_in(const Json& values) {
    std::vector<double> numbers;
    for (const auto& value : values) {
        numbers.push_back(value.is_number() ? value.get<double>()
                                            : std::numeric_limits<double>::quiet_NaN());
    }
    return numbers;
}

}  // namespace

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
    open.index_in_test = get_optional<int>(message, "index").value_or(last_case_ + 1);
    last_case_ = open.index_in_test;
    if (replacement_.is_done(current_node_, open.index_in_test)) {
        return Json{{"type", "skip"}, {"reason", "measured by the child before this one"}};
    }
    open.row.index = ++rows_begun_;
    open.row.work = std::move(*work);
    if (open.row.work.node.empty()) open.row.work.node = current_node_;
    open.row.case_id = case_id(open.row.work);
    if (kept_.take(open.row.work.node, open.row.case_id)) {
        --rows_begun_;
        return Json{{"type", "skip"}, {"reason", "measured before the run was resumed"}};
    }
    open.row.status = RowStatus::ok;
    open.begin = clock_.now();
    const CaseTimer timer = timers_.choose(open.row.case_id, current_node_);
    open.row.fallback = timer.fallback;
    open.row.fallback_detail = timer.detail;
    open_ = std::move(open);
    if (auto skip = leave_to_others()) return skip;
    if (auto skip = leave_in_quarantine()) return skip;
    flag_neighbours();
    observer_.on_case_begin(open_->row, get_optional<int>(message, "planned"));
    if (job_.tune_only) {
        return Json{{"type", "measure"},
                    {"timer", timer.timer},
                    {"sides", {"candidate"}},
                    {"tune_only", true}};
    }
    return Json{{"type", "measure"}, {"timer", timer.timer}, {"sides", {"base", "candidate"}}};
}

std::optional<Json> Conversation::leave_to_others() {
    if (!job_.tune_only) return std::nullopt;
    const auto nodes = result_.collected.value_or(std::vector<std::string>{});
    const auto node = std::find(nodes.begin(), nodes.end(), current_node_);
    auto reason =
        job_.tune_only(open_->row, static_cast<int>(node - nodes.begin()), open_->index_in_test);
    if (!reason) return std::nullopt;
    --rows_begun_;
    open_.reset();
    return Json{{"type", "skip"}, {"reason", std::move(*reason)}};
}

// Its row says why there are no times.
std::optional<Json> Conversation::leave_in_quarantine() {
    if (job_.quarantine == nullptr) return std::nullopt;
    auto reason = job_.quarantine->reason_to_skip(open_->row.case_id);
    if (!reason) return std::nullopt;
    observer_.on_case_begin(open_->row, std::nullopt);
    open_->row.status = RowStatus::skipped;
    open_->row.reason = *reason;
    ++result_.rows_quarantined;
    close_case();
    return Json{{"type", "skip"}, {"reason", std::move(*reason)}};
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
    leave_section();
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
    leave_section();
    if (job_.section == nullptr || job_.section->try_enter()) return start_side(side);
    waiting_ = Waiting{side, clock_.now()};
    return std::nullopt;
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
    count_neighbours();
    const std::size_t before = taken.values_ns.size();
    const std::size_t invalid_before = taken.invalid.size();
    add_values(taken, numbers_in(*values),
               job_.timer_checks.floor_of(taken.timer, taken.calls_per_sample));
    cool_down_s_ = judge_burst(taken, before, invalid_before);
    return next_step(side);
}

// Keeps or drops the burst that has just come; seconds to rest before the next one.
double Conversation::judge_burst(SideSamples& taken, std::size_t before,
                                 std::size_t invalid_before) {
    if (!watch_.in_burst()) return 0;
    Burst burst;
    burst.samples = taken.values_ns.size() - before;
    const BurstVerdict verdict = watch_.end_burst(burst);
    if (!verdict.keep && !taken.complete) {
        taken.values_ns.resize(before);
        taken.invalid.resize(invalid_before);
        ++taken.dropped_bursts;
        return verdict.cool_down_s;
    }
    taken.wall_s +=
        std::chrono::duration<double>(clock_.now() - open_->burst_begin).count() - cool_down_s_;
    taken.bursts.push_back(std::move(burst));
    for (const auto& reason : watch_.throttled()) open_->flags.insert("throttled:" + reason);
    return taken.timer == "graph" ? job_.rest_s : 0;
}

void Conversation::flag_neighbours() {
    const auto child = get_optional<long long>(result_.hello, "pid");
    if (!child || !open_) return;
    const auto others = watch_.others(*child);
    if (others && !others->empty()) open_->flags.insert("shared_device");
}

void Conversation::flag_timers() {
    for (const auto* side : {&open_->base, &open_->candidate}) {
        if (*side && !job_.timer_checks.conforms((*side)->timer)) {
            open_->flags.insert("timer_nonconforming");
        }
    }
}

Json Conversation::next_step(Side side) {
    const SideSamples& samples = *samples_of(side);
    const auto decision = decide(stopping_for(job_.stopping, samples.timer), samples);
    if (const auto* next = std::get_if<MoreSamples>(&decision)) return more(*next, cool_down_s_);
    leave_section();
    auto& result = side == Side::base ? open_->row.base : open_->row.candidate;
    result = make_side_result(samples, std::get<Enough>(decision).reason);
    const auto& summary = result->summary;
    return Json{{"type", "enough"}, {"median_ns", summary ? Json(summary->median) : Json(nullptr)}};
}

Json Conversation::more(const MoreSamples& more, double cool_down_s) {
    watch_.begin_burst();
    open_->burst_begin = clock_.now();
    Json answer = {
        {"type", "more"}, {"samples", more.samples}, {"calls_per_sample", more.calls_per_sample}};
    if (cool_down_s > 0) {
        answer["type"] = "cool_down";
        answer["seconds"] = cool_down_s;
    }
    return answer;
}

void Conversation::take_case_end(const Json& message) {
    if (!open_) {
        protocol_error("'case_end' outside a case");
        return;
    }
    Row& row = open_->row;
    row.check = message.value("check", Json(nullptr));
    row.work_amount = message.value("work", Json(nullptr));
    open_->winners =
        get_optional<std::vector<long long>>(message, "winners").value_or(open_->winners);
    row.flags = get_optional<std::vector<std::string>>(message, "flags").value_or(row.flags);
    if (!get_optional<bool>(row.check, "ok").value_or(true))
        row.flags.emplace_back("outputs_differ");
    if (row.candidate && row.candidate->timer == "graph") timers_.captured(row.case_id);
    const std::string status = get_string(message, "status", "ok");
    if (status != "ok") {
        row.status = status == "skipped" ? RowStatus::skipped : RowStatus::failed;
        row.error = message.value("error", Json(nullptr));
        row.reason = printable(get_string(row.error, "message", get_string(message, "reason")));
    }
    if (!lost_case(row)) replacement_.case_finished();
    close_case();
}

void Conversation::close_case() {
    if (!open_) return;
    leave_section();
    flag_neighbours();  // also one that came while the case ran
    flag_timers();
    if (open_->neighbours > 0) {
        open_->flags.insert(fmt::format("neighbours={}", open_->neighbours));
    }
    Row& row = open_->row;
    row.seconds = std::chrono::duration<double>(clock_.now() - open_->begin).count();
    row.waited_s = open_->waited_s;
    row.flags.insert(row.flags.end(), open_->flags.begin(), open_->flags.end());
    add_tuning(row);
    judge(row);
    count(row);
    if (job_.quarantine != nullptr) job_.quarantine->take(row, clock_);
    if (auto written = row_sink_(row, open_->base, open_->candidate); !written) {
        result_.record_error = written.error().message;
    }
    observer_.on_row(row);
    open_.reset();
}

}  // namespace opgauge
