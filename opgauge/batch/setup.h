// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/batch.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/device/device.h"
#include "opgauge/plan/plan.h"

#include <string>
#include <vector>

namespace opgauge {

// On what and under which conditions a batch measures.
struct BatchSetup {
    std::string backend;
    std::vector<BatchDevice> devices;
    std::vector<Device> leased;        // the same, as a lease takes them
    Json facts = Json::object();       // must be equal for a batch to go on
    Json cost_facts = Json::object();  // what makes the times of entries alike
};

// As a run of `first` would find it. Errors are those of a run: they are told before any lane
// starts. `options.devices` empty: the first usable device, as for a run.
Result<BatchSetup> find_setup(PlanOptions options, const BatchEntry& first,
                              const Environment& environment, const Installation& installation);

// "driver is 550.54, was 535.10": one a fact that differs; empty: the batch may go on.
std::vector<std::string> differing_facts(const Json& kept, const Json& now);

}  // namespace opgauge
