// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/corpus/providers.h"
#include "opgauge/plan/plan.h"

#include <string>
#include <vector>

namespace opgauge {

enum class Finding {
    works,
    absent,   // not here, and nothing that was asked for needs it
    problem,  // stands in the way of what was asked for
};

// One line of the doctor: what was looked at, what it is, and what to do about it.
struct Diagnosis {
    std::string subject;  // a backend, "python", "corpus", ...
    Finding finding = Finding::works;
    std::string detail;
    std::string cure;  // empty where nothing is wrong
};

// Looks at every backend, the interpreter and its packages, the corpus and this installation, and
// says what a run with these options would use. Starts nothing on a device; each look has a
// deadline.
std::vector<Diagnosis> diagnose(const PlanOptions& options, const Environment& environment,
                                const Installation& installation);

Json to_json(const std::vector<Diagnosis>& diagnoses);
std::string to_text(const std::vector<Diagnosis>& diagnoses);

}  // namespace opgauge
