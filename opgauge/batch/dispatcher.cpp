// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/dispatcher.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

// An operator of 1,000 cases says a few thousand.
constexpr std::size_t kMostMessages = 200'000;

std::string text_of(const Json& message, const char* name) {
    return printable(get_string(message, name), 200);
}

// What counts as the time of an entry: it came to its own end.
bool tells_its_time(const EntryResult& result) {
    return result.status == "passed" || result.status == "failed" || result.status == "skipped";
}

std::string joined_problems(const Json& health) {
    const auto problems = get_optional<std::vector<std::string>>(health, "problems");
    return problems ? printable(join(*problems, "; ")) : std::string();
}

}  // namespace

Dispatcher::Dispatcher(Batch& batch, BatchFolder& folder, EntryCosts& costs,
                       const LocalSettings& settings, const Clock& clock, BatchObserver& observer)
    : batch_(batch),
      folder_(folder),
      costs_(costs),
      silence_(settings.silence),
      clock_(clock),
      observer_(observer),
      queue_(batch.items),
      counted_(settings.began.value_or(clock.now())) {
    for (const auto& device : lane_devices(batch)) {
        Lane lane;
        lane.view.device = device.token;
        lane.heard = clock.now();
        lane.outside_since = counted_;
        lanes_.push_back(std::move(lane));
    }
}

void Dispatcher::on_message(std::size_t worker, const Json& message) {
    Lane& lane = lanes_[worker];
    lane.heard = clock_.now();
    if (++lane.messages > kMostMessages && lane.fault.empty()) {
        lane.fault = fmt::format("it said more than {} messages for one operator", kMostMessages);
    }
    const std::string type = get_string(message, "type");
    if (type == "ready") return take_ready(lane, message);
    if (type == "ended") return take_ended(lane, message);
    if (type == "phase") {
        lane.view.phase = text_of(message, "text");
    } else if (type == "case") {
        lane.view.case_name = text_of(message, "name");
        lane.view.case_index = get_optional<int>(message, "index").value_or(0);
        lane.view.planned = get_optional<int>(message, "planned");
    } else if (type == "row") {
        ++lane.view.rows;
    }
}

void Dispatcher::take_ready(Lane& lane, const Json& message) {
    if (lane.item || lane.question) {
        if (lane.fault.empty()) lane.fault = "it asked for work before its last was told";
        return;
    }
    lane.question = get_optional<unsigned long long>(message, "seq");
    note_fork_server(lane, text_of(message, "fork_server"));
    if (!lane.is_out()) lane.view.state = "idle";
    spend(lane, TimePart::idle);
}

// A lane knows whether it has one once it has tried, with its first operator.
void Dispatcher::note_fork_server(Lane& lane, const std::string& why_none) {
    if (!why_none.empty() && lane.view.why_no_fork_server != why_none) {
        observer_.on_note(fmt::format("device {}: no fork server: {}",
                                      printable(lane.view.device, 60), why_none));
    }
    lane.view.why_no_fork_server = why_none;
}

void Dispatcher::take_ended(Lane& lane, const Json& message) {
    const auto index = get_optional<std::size_t>(message, "index");
    if (!lane.item || index != lane.item) {
        if (lane.fault.empty()) lane.fault = "it told the end of what it was not given";
        return;
    }
    EntryResult result = result_of(message);
    if (result.status.empty()) result.status = "failed";
    if (lane.fault.empty()) {
        lane.crashes = 0;
    } else if (!is_good(result)) {
        // Its own word is that it was interrupted; we know why.
        result = ended_with(lane.silent ? "timeout" : "crashed", lane.fault);
    }
    // A lane is always ended by the same signal, whatever ended the batch.
    if (interrupted_ && result.status == "interrupted") result.reason = interrupted_->by;
    const std::size_t finished = *lane.item;
    finish(lane, std::move(result));
    if (message.contains("health")) take_health(lane, message["health"]);
    const BatchItem& item = batch_.items[finished];
    if (lane.is_out() && !is_good(item.result) && item.attempts < 2) return try_elsewhere(finished);
    // The others' memory may have been what it lacked.
    const bool beside_others = batch_.lanes_per_device > 1 && !item.alone;
    if (item.result.status == "oom" && beside_others && !interrupted_) try_alone(finished);
}

void Dispatcher::take_health(Lane& lane, const Json& health) {
    const std::string problems = joined_problems(health);
    const bool ok = get_optional<bool>(health, "ok").value_or(true);
    if (ok && problems.empty()) return;
    take_out(lane.view.device, problems.empty() ? "its health is not ok" : problems);
}

// With all lanes on it; what one of them runs comes to its end.
void Dispatcher::take_out(const std::string& device, const std::string& why) {
    for (auto& lane : lanes_) {
        if (lane.view.device != device || lane.is_out()) continue;
        lane.view.why_out = why;
        if (!lane.item) lane.view.state = "out";
    }
    observer_.on_note(fmt::format("device {} is taken out: {}", printable(device, 60), why));
}

void Dispatcher::finish(Lane& lane, EntryResult result) {
    BatchItem& item = batch_.items[*lane.item];
    item.state = EntryState::finished;
    item.result = std::move(result);
    if (!item.result.time) item.result.time.emplace();
    item.result.time->fit_to(spend(lane, TimePart::idle));
    // A run that went on did only a part of the work.
    if (!item.resume && tells_its_time(item.result)) {
        costs_.add(item.entry.name, item.result.seconds);
    }
    item.resume = false;
    folder_.touch(*lane.item);
    unsaved_ = true;
    lane.item.reset();
    lane.view.state = lane.is_out() ? "out" : "idle";
    observer_.on_end(item);
}

// The device is sick, and that may have been why.
void Dispatcher::try_elsewhere(std::size_t index) {
    const std::string& name = batch_.items[index].entry.name;
    observer_.on_note(fmt::format("{} goes to another device", printable(name, 100)));
    put_back(index, "~retry");
    queue_.put_back(index);
}

void Dispatcher::try_alone(std::size_t index) {
    BatchItem& item = batch_.items[index];
    observer_.on_note(
        fmt::format("{} ran out of memory beside others; it is measured once more, "
                    "alone on its device, at the end",
                    printable(item.entry.name, 100)));
    item.alone = true;
    put_back(index, "~alone");
    queue_.put_last(index);
}

// In a folder of its own: that of its first attempt stays.
void Dispatcher::put_back(std::size_t index, const char* suffix) {
    BatchItem& item = batch_.items[index];
    item.state = EntryState::pending;
    if (item.result.time) batch_.outside[TimePart::lost] += item.result.time->sum();
    item.result = {};
    item.run_dir += suffix;
    folder_.touch(index);
}

// Whether what comes next may not run beside what runs on this lane's device, or the other way
// round, or may come back to this lane.
bool Dispatcher::must_wait(const Lane& lane) const {
    if (queue_.empty()) return work_left();
    const bool next_alone = batch_.items[*queue_.next()].alone;
    return std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& other) {
        const bool beside = other.item && other.view.device == lane.view.device;
        return beside && (next_alone || batch_.items[*other.item].alone);
    });
}

std::optional<Json> Dispatcher::to_send(std::size_t worker) {
    Lane& lane = lanes_[worker];
    if (!lane.question || !lane.fault.empty()) return std::nullopt;
    const bool over = interrupted_ || error_ || lane.is_out();
    if (!over && must_wait(lane)) return std::nullopt;
    Json answer = over ? Json{{"type", "end"}} : next_answer(lane);
    answer["to"] = *lane.question;
    lane.question.reset();
    lane.heard = clock_.now();
    lane.told_end = answer["type"] == "end";
    if (lane.told_end) spend(lane, TimePart::end);
    return answer;
}

Json Dispatcher::next_answer(Lane& lane) {
    const auto index = queue_.take();
    if (!index) return {{"type", "end"}};
    BatchItem& item = batch_.items[*index];
    item.state = EntryState::running;
    item.lane = lane.view.device;
    ++item.attempts;
    folder_.touch(*index);
    unsaved_ = true;
    lane.item = index;
    spend(lane, std::nullopt);
    lane.messages = 0;
    lane.heard = clock_.now();
    LaneView next;
    next.device = lane.view.device;
    next.why_no_fork_server = lane.view.why_no_fork_server;
    next.state = "running";
    next.entry = item.entry.name;
    next.since = lane.heard;
    lane.view = std::move(next);
    observer_.on_begin(item);
    return {{"type", "run"},
            {"index", *index},
            {"operator", item.entry.operator_},
            {"file", item.entry.file},
            {"node", item.entry.node},
            {"run_dir", (batch_.folder / item.run_dir).string()},
            {"resume", item.resume}};
}

bool Dispatcher::work_left() const {
    return !queue_.empty() || std::any_of(lanes_.begin(), lanes_.end(),
                                          [](const Lane& lane) { return lane.item.has_value(); });
}

}  // namespace opgauge
