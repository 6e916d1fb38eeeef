// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/json.h"
#include "opgauge/measure/stopping_rule.h"
#include "opgauge/record/row.h"
#include "opgauge/run/supervisor.h"
#include "opgauge/session/case_timers.h"
#include "opgauge/session/device_watch.h"
#include "opgauge/session/kept_run.h"
#include "opgauge/session/lost_case.h"
#include "opgauge/session/measuring_section.h"
#include "opgauge/session/quarantine.h"
#include "opgauge/session/replacement.h"
#include "opgauge/session/time_account.h"
#include "opgauge/session/timer_checks.h"
#include "opgauge/session/tuning_desk.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgauge {

// Whether a child that only tunes takes this case of the test at `test` in the collected list: why
// not, or nullopt.
using CaseChooser =
    std::function<std::optional<std::string>(const Row& row, int test, int index_in_test)>;

// What the child must see and how it is to measure.
struct JobSettings {
    std::string backend;
    Json device = Json::object();  // {"token", "uuid", "pci_id", "name"} as planned
    std::string timer;
    std::string fallback_timer;  // of cases that cannot be captured
    Json timer_settings = Json::object();
    StoppingSettings stopping;
    double rest_s = 0;  // between two bursts of a graph; see docs/measuring.md on heat
    bool check_outputs = true;
    int compile_jobs = 1;
    bool overlap = true;  // whether a configuration is timed while others compile
    std::string tune_timing = "full";
    TimerChecks timer_checks;  // of the device's timers themselves
    // Sides are timed inside it; null: whoever else measures. Outlives the conversation.
    MeasuringSection* section = nullptr;
    // Of a device that other children use too: this one launches work only while it has it; null:
    // the device is its own. Outlives the conversation.
    HostTurn* turn = nullptr;
    Json select = Json::object();
    // A warm-up's: the cases that it takes are tuned, and none is timed.
    CaseChooser tune_only;
    KeptRun kept;                      // what an earlier part of this run has finished
    Quarantine* quarantine = nullptr;  // cases that cost a child; outlives the conversation
    TimeAccount* time = nullptr;       // of the run; outlives the conversation
};

// What came over the channel, beside the rows.
struct ConversationResult {
    int children = 0;  // that said hello
    int forked = 0;    // of these, by a fork server
    bool said_bye = false;
    std::optional<std::vector<std::string>> collected;  // absent: the child never got that far
    std::vector<std::pair<std::string, std::string>> collect_errors;  // node, message
    std::vector<TestOutcome> tests;
    Json hello = nullptr;
    Json device = nullptr;                     // as the child reported it
    std::optional<std::string> guard_refusal;  // why the device is not the planned one
    std::optional<std::string> protocol_error;
    std::optional<std::string> record_error;  // a row could not be written
    std::optional<std::string> store_error;   // nor a winner
    std::optional<std::string> replay_refusal;
    std::optional<std::string> child_error;  // the first that it logged
    std::vector<std::string> log;            // warnings and errors of the child
    Json events = Json::array();             // summed seconds by event name
    int rows_ok = 0;
    int rows_failed = 0;
    int rows_invalid = 0;
    int rows_skipped = 0;
    int rows_flagged = 0;
    int rows_quarantined = 0;                      // among the skipped
    std::vector<LostCase> lost;                    // what cost a child
    std::optional<std::string> gave_up;            // why cases behind a lost one were not measured
    std::map<std::string, double> tuning_seconds;  // of live tuning, by case id
};

// How far a shard of a warm-up has come.
struct ShardProgress {
    int shard = 0;
    int shards = 1;
    std::string device;
    int done = 0;              // cases that it has seen, also those of others
    std::optional<int> total;  // absent: unknown
    int tuned = 0;
    std::string kernel;  // whose configurations are being timed; empty: none
    bool ended = false;
    std::chrono::steady_clock::duration elapsed{};
};

// For progress displays. All calls come from the supervisor's thread.
class RunObserver {
  public:
    virtual ~RunObserver() = default;
    virtual void on_phase(const std::string& /*text*/) {}
    virtual void on_case_begin(const Row& /*row*/, std::optional<int> /*planned*/) {}
    virtual void on_row(const Row& /*row*/) {}
    // A sweep over a kernel's configurations begins; empty: it has ended.
    virtual void on_tuning(const std::string& /*kernel*/) {}
    virtual void on_shard(const ShardProgress& /*progress*/) {}
    virtual void on_tick() {}
};

// The parent's side of docs/child_protocol.md: answers questions, turns samples into rows and
// hands each finished row on at once. Knows nothing of processes or files.
class Conversation final : public ChildHandler {
  public:
    using RowSink = std::function<Result<void>(const Row&, const std::optional<SideSamples>& base,
                                               const std::optional<SideSamples>& candidate)>;
    // Called once, with the child's device report, before the child may measure.
    using DeviceSink = std::function<void(const Json& device)>;

    // `watch`, `desk` and the references outlive the conversation. Without a desk tuning is off.
    Conversation(JobSettings job, CaptureMemory memory, DeviceWatch& watch, const Clock& clock,
                 RunObserver& observer, RowSink row_sink, DeviceSink device_sink,
                 TuningDesk* desk = nullptr);

    std::optional<Json> on_message(const Json& message) override;
    bool answers_later() const override { return waiting_.has_value(); }
    std::optional<Json> late_answer() override;
    void on_tick() override;
    std::chrono::milliseconds tick_interval() const override;
    std::optional<std::string> wants_stop() override;
    void on_stop(const Outcome& reason) override;

    // Closes a case that the child left open; `why` becomes its error. True: the run goes on with
    // another child, that is to be started now.
    bool child_ended(const std::string& why, const Outcome& outcome);
    // Before another child starts: after one that ran out of memory, waits until it is back.
    void await_memory();
    const ConversationResult& result() const { return result_; }
    // How long the child waited for others that measured.
    std::chrono::steady_clock::duration waited() const { return waited_; }

  private:
    struct OpenCase {
        Row row;
        std::optional<SideSamples> base;
        std::optional<SideSamples> candidate;
        std::chrono::steady_clock::time_point begin;
        int index_in_test = 0;
        std::chrono::steady_clock::time_point burst_begin;
        std::set<std::string> flags;     // what the parent has seen
        std::string capturing;           // the side whose graph is being recorded
        std::vector<long long> winners;  // ids of the keys that it used
        double waited_s = 0;             // for others that measured
        int neighbours = 0;              // the most that measured at the same time
    };
    // A question whose answer waits for other processes of this host.
    struct Waiting {
        std::optional<Side> side;  // that wants to be timed; else the child wants its turn
        std::chrono::steady_clock::time_point since;
        bool told = false;                        // whether the observer knows
        TimePart before = TimePart::first_calls;  // what the child was doing
    };

    std::optional<Json> answer(const std::string& type, const Json& message);
    void follow_time(const std::string& type, const Json& message);
    void follow_answer(const std::optional<Json>& answer);
    void spend(TimePart part);
    Json answer_hello(const Json& message);
    Json answer_device(const Json& message);
    std::optional<Json> answer_case_begin(const Json& message);
    std::optional<Json> leave_to_others();
    std::optional<Json> leave_in_quarantine();
    std::optional<Json> answer_side_begin(const Json& message);
    std::optional<Json> answer_samples(const Json& message);
    std::optional<Json> answer_capture_failed(const Json& message);
    void give_up_capture(const std::string& side, const std::string& kind, const std::string& text);
    Json start_side(Side side);
    void stop_waiting();
    void leave_section();
    std::optional<Json> answer_turn();
    void end_turn();
    void count_neighbours();
    Json next_step(Side side);
    Json more(const MoreSamples& more, double cool_down_s);
    double judge_burst(SideSamples& taken, std::size_t before, std::size_t invalid_before);
    void flag_neighbours();
    Json tune_job() const;
    std::optional<Json> answer_tuning(const std::string& type, const Json& message);
    void take_tuned(const Json& message);
    void add_tuning(Row& row);
    void tuning_error(const Error& error);
    std::optional<bool> alone_on_device();
    void flag_timers();
    void take_collected(const Json& message);
    void take_case_end(const Json& message);
    void take_test_end(const Json& message);
    void take_event(const Json& message);
    void take_log(const Json& message);
    void follow_capture(const std::string& event, const Json& message);
    void close_case();
    void keep_earlier(const KeptRun& kept);
    void count(const Row& row);
    bool replaces_lost(const std::string& why, const Outcome& outcome);
    void protocol_error(std::string text);
    std::optional<SideSamples>* open_side(const Json& message, Side& side);
    std::optional<SideSamples>& samples_of(Side side);

    JobSettings job_;
    const Clock& clock_;
    RunObserver& observer_;
    RowSink row_sink_;
    DeviceSink device_sink_;
    ConversationResult result_;
    DeviceWatch& watch_;
    TuningDesk off_;
    TuningDesk& desk_;
    double cool_down_s_ = 0;  // before the next burst
    CaseTimers timers_;
    Replacement replacement_;
    KeptCases kept_;
    bool stopping_ = false;  // the child's words do not count any more
    bool lost_memory_ = false;
    std::optional<OpenCase> open_;
    std::optional<Waiting> waiting_;
    std::chrono::steady_clock::duration waited_{};
    std::set<std::string> dtype_unsupported_nodes_;
    std::string current_node_;
    int last_case_ = -1;  // its index in the current test; -1: none has begun
    int rows_begun_ = 0;
};

// Why the device that a child sees is not the planned one, or nullopt. `planned` and `seen` have
// the members of the protocol's job.device and device messages.
std::optional<std::string> device_mismatch(const std::string& backend, const Json& planned,
                                           const Json& seen);

}  // namespace opgauge
