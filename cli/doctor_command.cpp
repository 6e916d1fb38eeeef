// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/doctor.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge::cli {

Result<int> doctor_command(const DoctorOptions& options, const Environment& environment) {
    const auto diagnoses = diagnose(options.plan, environment, find_installation(environment));
    fmt::print("{}", options.json ? to_text(to_json(diagnoses)) : to_text(diagnoses));
    const bool problem = std::any_of(diagnoses.begin(), diagnoses.end(), [](const Diagnosis& d) {
        return d.finding == Finding::problem;
    });
    return problem ? static_cast<int>(ExitCode::environment) : static_cast<int>(ok);
}

}  // namespace opgauge::cli
