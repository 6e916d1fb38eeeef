// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/dispatcher.h"

#include "opgauge/base/text.h"
#include "opgauge/batch/recover.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr int kMostCrashes = 3;  // of a device, in a row
// An operator of 1,000 cases says a few thousand.
constexpr std::size_t kMostMessages = 200'000;
constexpr std::chrono::seconds kBetweenLive{1};
constexpr std::chrono::seconds kToEnd{30};  // once it was told to

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
                       std::chrono::seconds silence, const Clock& clock, BatchObserver& observer)
    : batch_(batch),
      folder_(folder),
      costs_(costs),
      silence_(silence),
      clock_(clock),
      observer_(observer),
      queue_(batch.items) {
    for (const auto& device : lane_devices(batch)) {
        Lane lane;
        lane.view.device = device.token;
        lane.heard = clock.now();
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

std::optional<std::string> Dispatcher::wants_stop(std::size_t worker) {
    Lane& lane = lanes_[worker];
    const bool works = lane.item || lane.view.state == "starting";
    const auto quiet = clock_.now() - lane.heard;
    if (lane.fault.empty() && works && silence_.count() > 0 && quiet > silence_) {
        lane.silent = true;
        lane.fault = fmt::format("it said nothing for {} s", silence_.count());
    }
    if (lane.fault.empty() && lane.told_end && quiet > kToEnd) lane.fault = "it did not end";
    return lane.fault.empty() ? std::nullopt : std::optional(lane.fault);
}

void Dispatcher::on_interrupt(const Stopped& by) {
    interrupted_ = by;
    observer_.on_note(by.by + "; ending what runs");
}

bool Dispatcher::on_end(std::size_t worker, const Outcome& outcome) {
    Lane& lane = lanes_[worker];
    const bool as_told = lane.told_end && lane.fault.empty();
    lane.question.reset();
    lane.told_end = false;
    if (lane.item) lose(lane, outcome);
    lane.fault.clear();
    lane.silent = false;
    lane.view.state = lane.is_out() ? "out" : "ended";
    if (as_told || lane.is_out() || interrupted_ || error_) return false;
    if (++lane.crashes >= kMostCrashes) {
        take_out(lane.view.device,
                 fmt::format("its lane ended {} times in a row, the last time it {}; see {}",
                             kMostCrashes, to_text(outcome),
                             fmt::format("{}/{}.log", BatchFiles::kLanes, worker)));
        return false;
    }
    lane.view.state = work_left() ? "starting" : "ended";
    lane.heard = clock_.now();
    lane.messages = 0;
    return work_left();
}

// The lane is gone in the middle of an entry. Its run may have ended all the same.
void Dispatcher::lose(Lane& lane, const Outcome& outcome) {
    const BatchItem& item = batch_.items[*lane.item];
    if (auto ended = ended_run(batch_.folder / item.run_dir)) {
        return finish(lane, std::move(*ended));
    }
    EntryResult result;
    result.status = interrupted_ ? "interrupted" : lane.silent ? "timeout" : "crashed";
    result.reason = interrupted_ ? interrupted_->by : fmt::format("the lane {}", to_text(outcome));
    result.exit_code = 1;
    result.rows = rows_in(batch_.folder / item.run_dir);
    result.seconds = std::chrono::duration<double>(clock_.now() - lane.view.since).count();
    if (const auto* exited = std::get_if<Exited>(&outcome)) result.exit = exited->code;
    if (const auto* killed = std::get_if<Signaled>(&outcome)) result.signal = killed->signal;
    finish(lane, std::move(result));
}

void Dispatcher::on_tick() {
    if (unsaved_) save();
    save_live();
    std::vector<LaneView> views;
    for (const auto& lane : lanes_) views.push_back(lane.view);
    observer_.on_tick(batch_, views);
}

void Dispatcher::save() {
    unsaved_ = false;
    batch_.updated = utc_text(clock_.wall_time());
    const auto saved = folder_.save(batch_);
    if (saved || error_) return;
    error_ = Error{ErrorKind::environment, saved.error().message};
    observer_.on_note(error_->message + "; no more operators are begun");
}

void Dispatcher::save_live() {
    const auto now = clock_.now();
    if (now - live_at_ < kBetweenLive) return;
    live_at_ = now;
    Json lanes = Json::array();
    for (const auto& lane : lanes_) lanes.push_back(to_json(lane.view, now));
    std::string live = to_line(lanes);
    if (live == live_) return;
    live_ = std::move(live);
    folder_.save_live({{"schema_version", 1},
                       {"pid", ::getpid()},
                       {"updated", utc_text(clock_.wall_time())},
                       {"lanes", std::move(lanes)}});
}

}  // namespace opgauge
