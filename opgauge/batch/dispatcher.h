// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/local_executor.h"
#include "opgauge/batch/schedule.h"
#include "opgauge/run/workers.h"

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// The parent's side of all lane channels (docs/batch.md): hands out entries, takes what the lanes
// tell, and loses no more than one entry by whatever a lane does.
class Dispatcher final : public WorkersHandler {
  public:
    Dispatcher(Batch& batch, BatchFolder& folder, EntryCosts& costs, const LocalSettings& settings,
               const Clock& clock, BatchObserver& observer);

    void on_message(std::size_t worker, const Json& message) override;
    void on_tick() override;
    std::optional<Json> to_send(std::size_t worker) override;
    std::optional<std::string> wants_stop(std::size_t worker) override;
    bool on_end(std::size_t worker, const Outcome& outcome) override;
    void on_interrupt(const Stopped& by) override;

    // Adds what the lanes have spent outside of entries to the batch's; called once more at its
    // end.
    void account();
    // Not empty: the batch's files could not be written.
    const std::optional<Error>& error() const { return error_; }

  private:
    void take_ready(Lane& lane, const Json& message);
    void note_fork_server(Lane& lane, const std::string& why_none);
    void take_ended(Lane& lane, const Json& message);
    void take_health(Lane& lane, const Json& health);
    void take_out(const std::string& device, const std::string& why);
    bool must_wait(const Lane& lane) const;
    void finish(Lane& lane, EntryResult result);
    double spend(Lane& lane, std::optional<TimePart> next);
    void lose(Lane& lane, const Outcome& outcome);
    void try_elsewhere(std::size_t item);
    void try_alone(std::size_t item);
    void put_back(std::size_t item, const char* suffix);
    Json next_answer(Lane& lane);
    bool work_left() const;
    void save();
    void save_live();

    Batch& batch_;
    BatchFolder& folder_;
    EntryCosts& costs_;
    std::chrono::seconds silence_;
    const Clock& clock_;
    BatchObserver& observer_;
    BatchQueue queue_;
    std::vector<Lane> lanes_;
    std::optional<Stopped> interrupted_;
    std::optional<Error> error_;
    bool unsaved_ = false;
    std::string live_;  // as last written
    std::chrono::steady_clock::time_point live_at_;
    std::chrono::steady_clock::time_point counted_;  // the lanes' time up to here is in the batch's
};

}  // namespace opgauge
