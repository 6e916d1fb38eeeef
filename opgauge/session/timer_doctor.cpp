// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/timer_doctor.h"

#include "opgauge/base/text.h"
#include "opgauge/report/conformance_report.h"
#include "opgauge/run/supervisor.h"
#include "opgauge/session/conversation.h"
#include "opgauge/session/planned_device.h"
#include "opgauge/session/python_probe.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <variant>

namespace opgauge {
namespace {

constexpr std::chrono::minutes kTotal{10};
constexpr std::chrono::minutes kStall{5};  // a framework on a cold network disk takes minutes

// What the children of all devices share.
struct Ground {
    const Backend& backend;
    std::vector<std::string> timers;
    std::string python;
    Environment environment;
    const Clock& clock;
};

std::vector<std::string> timers_of(const Backend& backend) {
    const auto offered = backend.capabilities();
    if (!offered.contains(Capability::event_timing)) return {};
    return timers_to_check(offered.contains(Capability::graph_capture) ? "graph" : "event");
}

Environment with_bridge(Environment environment, const Installation& installation,
                        const std::string& tool_version) {
    environment.set("PYTHONPATH",
                    environment.with_before("PYTHONPATH", installation.bridge.string()));
    environment.set("PYTHONUNBUFFERED", "1");
    environment.set("OPGAUGE_VERSION", tool_version);
    return environment;
}

JobSettings job_of(const Ground& ground, const SelectedDevice& device, TimerChecks checks) {
    JobSettings job;
    job.backend = ground.backend.name();
    job.device = planned_device(device);
    job.timer = ground.timers.back();
    const bool holds = ground.backend.capabilities().contains(Capability::device_hold);
    job.timer_settings = {{"hold", holds}};
    job.timer_checks = std::move(checks);
    return job;
}

ChildSpec child_of(const Ground& ground, const TimerDiagnosis& diagnosis) {
    Environment environment = ground.environment;
    for (const auto& [name, value] : diagnosis.device.changes) {
        environment.change(name, value);
    }
    ChildSpec spec;
    spec.argv = {ground.python, "-m", "opgauge_bridge.conformance"};
    spec.environment = environment.to_strings();
    // Python looks for modules in its own folder first, and this one has none.
    spec.working_directory = diagnosis.file.parent_path();
    spec.log_file = std::filesystem::path(diagnosis.file).replace_extension(".log");
    return spec;
}

// Starts one child, that checks the timers of one device; what it told goes to `diagnosis`.
void measure(const Ground& ground, const Json& setup, TimerDiagnosis& diagnosis) {
    std::error_code ignored;
    std::filesystem::create_directories(diagnosis.file.parent_path(), ignored);
    const ChildSpec spec = child_of(ground, diagnosis);
    diagnosis.problem = "the child ended before it checked the timers";
    const auto take = [&](const Json& facts, const Result<Conformance>& judged) {
        diagnosis.problem = judged ? std::string() : judged.error().message;
        if (!judged) return;
        diagnosis.record = {setup, utc_text(ground.clock.wall_time()), facts, *judged};
    };
    DeviceWatch watch(nullptr, Heat::burst, ground.clock);
    RunObserver observer;
    Conversation talk(
        job_of(ground, diagnosis.device, TimerChecks(ground.timers, take)), CaptureMemory(), watch,
        ground.clock, observer,
        [](const Row&, const auto&, const auto&) -> Result<void> { return {}; },
        [](const Json&) {});
    ChildLimits limits;
    limits.total = kTotal;
    limits.stall = kStall;
    const Outcome outcome = supervise(spec, limits, talk);
    talk.child_ended("the child " + to_text(outcome), outcome);
    if (const auto* stopped = std::get_if<Stopped>(&outcome)) diagnosis.signal = stopped->signal;
    if (diagnosis.record) return;
    if (talk.result().guard_refusal) {
        diagnosis.problem = "device guard: " + *talk.result().guard_refusal;
    } else {
        diagnosis.problem +=
            fmt::format(" (it {}); its output is in {}", to_text(outcome), spec.log_file.string());
    }
}

void keep(TimerDiagnosis& diagnosis) {
    diagnosis.measured_now = true;
    if (const auto written = write_conformance(diagnosis.file, *diagnosis.record); !written) {
        diagnosis.record.reset();
        diagnosis.problem = written.error().message;
    }
}

enum class Kept { use, again };

void diagnose_device(const Ground& ground, const Json& setup, Kept kept,
                     TimerDiagnosis& diagnosis) {
    diagnosis.file = conformance_file(ground.environment, setup);
    if (kept == Kept::use) diagnosis.record = read_conformance(diagnosis.file);
    if (diagnosis.record && diagnosis.record->judged.covers(ground.timers.back())) return;
    diagnosis.record.reset();
    measure(ground, setup, diagnosis);
    if (diagnosis.record) keep(diagnosis);
}

std::string place_of(const TimerDiagnosis& diagnosis) {
    const Device& device = diagnosis.device.device;
    return fmt::format("device {}: {}, backend {}", diagnosis.device.token,
                       printable(device.name, 60), diagnosis.backend);
}

}  // namespace

Result<std::vector<TimerDiagnosis>> diagnose_timers(const TimerDoctorOptions& options,
                                                    const Environment& environment,
                                                    const Installation& installation,
                                                    const Clock& clock) {
    OPGAUGE_TRY_ASSIGN(const BackendChoice choice, choose_backend(options.plan.backend, environment,
                                                                  WithoutAccelerator::error));
    const Backend& backend = *choice.backend;
    OPGAUGE_TRY_ASSIGN(const auto devices, select_devices(backend, choice.discovery,
                                                          options.plan.devices, environment));
    std::string python = options.plan.python;
    if (python.empty()) python = environment.get_non_empty("OPGAUGE_PYTHON").value_or("python3");
    const Ground ground{backend, timers_of(backend), python,
                        with_bridge(environment, installation, options.tool_version), clock};
    std::optional<PythonFacts> facts;
    if (!ground.timers.empty()) {
        OPGAUGE_TRY_ASSIGN(facts, probe_python(python, ground.environment));
    }
    std::vector<TimerDiagnosis> diagnoses;
    for (const auto& device : devices) {
        TimerDiagnosis& diagnosis = diagnoses.emplace_back();
        diagnosis.backend = backend.name();
        diagnosis.device = device;
        if (!facts) {
            diagnosis.not_measured =
                fmt::format("timer {} has no floor of its own", backend.default_timer());
            continue;
        }
        const Json setup = conformance_setup(backend.name(), device.device, choice.discovery.driver,
                                             optional_json(facts->packages["torch"]));
        diagnose_device(ground, setup, options.again ? Kept::again : Kept::use, diagnosis);
        if (diagnosis.signal != 0) break;
    }
    return diagnoses;
}

Json to_json(const std::vector<TimerDiagnosis>& diagnoses) {
    Json list = Json::array();
    const auto text = [](const std::string& value) {
        return value.empty() ? Json(nullptr) : Json(value);
    };
    for (const auto& diagnosis : diagnoses) {
        const auto& record = diagnosis.record;
        list.push_back({{"backend", diagnosis.backend},
                        {"device", planned_device(diagnosis.device)},
                        {"not_measured", text(diagnosis.not_measured)},
                        {"problem", text(diagnosis.problem)},
                        {"measured_utc", record ? Json(record->measured_utc) : Json(nullptr)},
                        {"measured_now", diagnosis.measured_now},
                        {"file", text(diagnosis.file.string())},
                        {"setup", record ? record->setup : Json(nullptr)},
                        {"conformance", record ? to_json(record->judged) : Json(nullptr)}});
    }
    return list;
}

std::string to_text(const std::vector<TimerDiagnosis>& diagnoses) {
    std::string text;
    for (const auto& diagnosis : diagnoses) {
        text += text.empty() ? "" : "\n";
        text += place_of(diagnosis) + "\n";
        if (!diagnosis.record) {
            text += diagnosis.problem.empty() ? "not measured: " + diagnosis.not_measured
                                              : "PROBLEM: " + printable(diagnosis.problem, 1000);
            text += "\n";
            continue;
        }
        const KeptConformance& record = *diagnosis.record;
        text += conformance_text(record.judged);
        text +=
            fmt::format("measured {}{}, driver {}, torch {}; kept in {}\n",
                        printable(record.measured_utc), diagnosis.measured_now ? " (now)" : "",
                        printable(get_string(record.setup, "driver", "-")),
                        printable(get_string(record.setup, "torch", "-")), diagnosis.file.string());
    }
    return text;
}

}  // namespace opgauge
