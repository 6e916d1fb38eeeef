// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/batch.h"
#include "opgauge/batch/batch_folder.h"
#include "opgauge/batch/costs.h"
#include "opgauge/batch/lane.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// Told of what happens in a batch, in its one thread.
class BatchObserver {
  public:
    virtual ~BatchObserver() = default;
    virtual void on_begin(const BatchItem& /*item*/) {}
    virtual void on_end(const BatchItem& /*item*/) {}
    // What a person must know: a device that was taken out, an entry that is tried again.
    virtual void on_note(const std::string& /*text*/) {}
    virtual void on_tick(const Batch& /*batch*/, const std::vector<LaneView>& /*lanes*/) {}
};

struct LocalSettings {
    std::string program;  // that is a lane when it is called with `batch-lane`
    Environment environment;
    // A lane that works and says nothing for so long is ended. 0: none.
    std::chrono::seconds silence{3'600};
    std::chrono::milliseconds interrupt{12'000};  // as WorkerLimits has them
    std::chrono::milliseconds after_close{5'000};
    // From when on its time counts; nullopt: from the lanes' start.
    std::optional<std::chrono::steady_clock::time_point> began;
};

// Runs what waits in `batch` on its devices, a lane each, and keeps the folder's files. At the end
// every entry is finished or not_run, and `state` and `exit_code` are set, also after an interrupt.
// Kind environment: the files cannot be written; what was measured is in the run folders.
Result<void> run_local(Batch& batch, BatchFolder& folder, EntryCosts& costs,
                       const LocalSettings& settings, const Clock& clock, BatchObserver& observer);

}  // namespace opgauge
