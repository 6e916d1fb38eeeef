// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/run_setup.h"

#include "opgauge/base/file.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/session/planned_device.h"

#include <string>
#include <system_error>

namespace opgauge {

Environment child_environment(const Plan& plan, const Environment& caller,
                              const RunOptions& options) {
    Environment environment = caller;
    for (const auto& variable : plan.environment) environment.change(variable.name, variable.value);
    environment.set("OPGAUGE_VERSION", options.tool_version);
    return environment;
}

Result<std::filesystem::path> claim_folder(const Plan& plan, const RunOptions& options,
                                           const Clock& clock) {
    std::error_code error;
    if (options.resume && std::filesystem::is_directory(options.run_dir, error)) {
        return std::filesystem::absolute(options.run_dir);
    }
    if (!options.run_dir.empty()) return claim_exact_run_dir(options.run_dir);
    const CorpusNode& first = plan.nodes.front();
    const std::string name = first.marks.empty() ? first.function : first.marks.front();
    return claim_run_dir(options.root, name, clock.wall_time());
}

Result<void> write_shapes(const Plan& plan) {
    if (plan.shapes_content.empty()) return {};
    const std::filesystem::path file(plan.shapes_file);
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    return write_file_atomically(file, plan.shapes_content);
}

Json job_selection(const Plan& plan) {
    return plan.settings.first_dtype() ? Json{{"dtypes", kFirstDtype}} : Json::object();
}

JobSettings job_settings(const Plan& plan, const RunOptions& options) {
    JobSettings job;
    job.backend = plan.backend.value;
    job.device = planned_device(plan.device);
    job.timer = plan.timer.value;
    job.fallback_timer = plan.fallback_timer;
    job.timer_settings = plan.timer_settings;
    job.stopping = options.stopping;
    // Bursts one after the other drive a card into its power cap within 30 ms; with rests as long
    // as they are, the first 20 samples of a 4096^3 product agree to 0.3 % in ten processes (H200).
    constexpr double kRestSeconds = 0.01;
    if (plan.heat == "burst") job.rest_s = kRestSeconds;
    job.check_outputs = options.check_outputs;
    job.compile_jobs = plan.compile.jobs;
    job.overlap = plan.compile.overlap;
    job.tune_timing = plan.tune_timing.value;
    job.select = job_selection(plan);
    return job;
}

}  // namespace opgauge
