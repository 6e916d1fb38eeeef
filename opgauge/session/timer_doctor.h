// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/device/backends.h"
#include "opgauge/plan/plan.h"
#include "opgauge/session/conformance.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

struct TimerDoctorOptions {
    PlanOptions plan;    // backend, devices, python
    bool again = false;  // measure what is kept anew
    std::string tool_version;
};

// What is known of one device's timers. Just one of `not_measured`, `record` and `problem` is set.
struct TimerDiagnosis {
    std::string backend;
    SelectedDevice device;
    std::string not_measured;  // no timer of this backend has a floor
    std::optional<KeptConformance> record;
    std::string problem;         // it was tried and went wrong
    std::filesystem::path file;  // where the record is kept
    bool measured_now = false;
    int signal = 0;  // that ended opgauge's child on your behalf
};

// The kept record of each selected device, or a new one, for which a child is started. Kinds: as
// choosing the backend and the devices; environment (no Python). Ends at an interrupt.
Result<std::vector<TimerDiagnosis>> diagnose_timers(const TimerDoctorOptions& options,
                                                    const Environment& environment,
                                                    const Installation& installation,
                                                    const Clock& clock);

Json to_json(const std::vector<TimerDiagnosis>& diagnoses);
std::string to_text(const std::vector<TimerDiagnosis>& diagnoses);

}  // namespace opgauge
