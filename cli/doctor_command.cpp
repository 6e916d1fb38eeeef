// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/file.h"
#include "opgauge/device/tool_output.h"
#include "opgauge/report/devices_report.h"
#include "opgauge/session/doctor.h"
#include "opgauge/session/timer_doctor.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge::cli {

namespace {

// Somebody else's machine, by what its tool printed there.
Result<int> read_saved_output(const DoctorOptions& options) {
    const auto text = read_file(options.parse);
    if (!text) return fail(ErrorKind::usage, "--parse: " + text.error().message);
    OPGAUGE_TRY_ASSIGN(const Discovery found, read_pasted_output(options.command, *text));
    const std::vector<Discovery> list = {found};
    fmt::print("{}", options.json ? to_text(devices_json(list)) : devices_text(list));
    return found.devices.empty() ? static_cast<int>(ExitCode::environment) : static_cast<int>(ok);
}

int exit_code_of(const TimerDiagnosis& diagnosis) {
    constexpr int kSignalBase = 128;
    if (diagnosis.signal != 0) return kSignalBase + diagnosis.signal;
    if (!diagnosis.problem.empty()) return ExitCode::environment;
    const bool fails = diagnosis.record && !diagnosis.record->judged.failed().empty();
    return fails ? ExitCode::failed : ok;
}

Result<int> check_timers(const DoctorOptions& options, const Environment& environment) {
    const SystemClock clock;
    OPGAUGE_TRY_ASSIGN(const auto diagnoses,
                       diagnose_timers({options.plan, options.again, OPGAUGE_VERSION}, environment,
                                       find_installation(environment), clock));
    fmt::print("{}", options.json ? to_text(to_json(diagnoses)) : to_text(diagnoses));
    int code = ok;
    for (const auto& diagnosis : diagnoses) code = std::max(code, exit_code_of(diagnosis));
    return code;
}

}  // namespace

Result<int> doctor_command(const DoctorOptions& options, const Environment& environment) {
    if (!options.parse.empty()) return read_saved_output(options);
    if (options.timers) return check_timers(options, environment);
    const auto diagnoses = diagnose(options.plan, environment, find_installation(environment));
    fmt::print("{}", options.json ? to_text(to_json(diagnoses)) : to_text(diagnoses));
    const bool problem = std::any_of(diagnoses.begin(), diagnoses.end(), [](const Diagnosis& d) {
        return d.finding == Finding::problem;
    });
    return problem ? static_cast<int>(ExitCode::environment) : static_cast<int>(ok);
}

}  // namespace opgauge::cli
