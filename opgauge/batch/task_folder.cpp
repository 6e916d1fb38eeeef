// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/task_folder.h"

#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemaVersion = 1;
constexpr const char* kPlan = "tasks.json";
constexpr const char* kJobs = "jobs.json";

fs::path task_path(const fs::path& folder, int task, const char* ending) {
    return folder / "tasks" / fmt::format("{:03}{}", task, ending);
}

// As one word of a POSIX shell.
std::string quoted(const std::string& text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

// A missing --chdir only warns and runs elsewhere, so the script goes there itself and says so.
std::string script_of(const fs::path& folder, const TaskPlan& plan) {
    return fmt::format(
        "#!/bin/sh\n"
        "# A task of an opgauge batch; SLURM_ARRAY_TASK_ID says which.\n"
        "cd -- {0} || {{ echo \"$(uname -n) does not see the folder\" {0} >&2; exit 4; }}\n"
        "[ -r {1} ] || {{ echo \"$(uname -n) does not see\" {1} >&2; exit 4; }}\n"
        "[ -x {2} ] || {{ echo \"$(uname -n) cannot run\" {2} >&2; exit 4; }}\n"
        "exec {2} batch-task {3}\n",
        quoted(plan.working_directory), quoted((folder / kPlan).string()), quoted(plan.program),
        quoted(folder.string()));
}

Result<void> check_text(const std::string& what, const std::string& text) {
    if (text.find_first_of(std::string_view("\n\r\0\\", 4)) == std::string::npos) return {};
    return fail(ErrorKind::usage,
                fmt::format("{} {} has a line break or a backslash, which a job's "
                            "files cannot hold; rename it",
                            what, printable(text)));
}

std::vector<std::string> strings_of(const Json& json, const char* key) {
    return get_optional<std::vector<std::string>>(json, key).value_or(std::vector<std::string>());
}

}  // namespace

fs::path chunk_file(const fs::path& folder, int task) {
    return task_path(folder, task, ".ops");
}

fs::path task_batch_folder(const fs::path& folder, int task) {
    return task_path(folder, task, "");
}

fs::path task_record_file(const fs::path& folder, int task) {
    return task_path(folder, task, ".json");
}

fs::path task_script_file(const fs::path& folder) {
    return folder / "tasks" / "task.sh";
}

Result<void> write_task_plan(const fs::path& folder, TaskPlan plan,
                             const std::vector<std::vector<std::string>>& chunks) {
    OPGAUGE_TRY(check_text("the batch folder", folder.string()));
    std::error_code error;
    fs::create_directories(folder / "tasks", error);
    if (error) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot make {}/tasks: {}", folder.string(), error.message()));
    }
    for (std::size_t task = 0; task < chunks.size(); ++task) {
        for (const auto& name : chunks[task]) OPGAUGE_TRY(check_text("operator", name));
        OPGAUGE_TRY(write_file_atomically(chunk_file(folder, static_cast<int>(task)),
                                          join(chunks[task], "\n") + "\n"));
    }
    OPGAUGE_TRY(write_file_atomically(task_script_file(folder), script_of(folder, plan)));
    const Json json = {{"schema_version", kSchemaVersion},
                       {"program", plan.program},
                       {"working_directory", plan.working_directory},
                       {"backend", plan.backend},
                       {"gres", plan.gres},
                       {"options", plan.options},
                       {"tasks", chunks.size()}};
    return write_file_atomically(folder / kPlan, to_text(json));
}

Result<TaskPlan> read_task_plan(const fs::path& folder) {
    OPGAUGE_TRY_ASSIGN(const Json json, read_json_file(folder / kPlan));
    TaskPlan plan;
    plan.program = get_string(json, "program");
    plan.working_directory = get_string(json, "working_directory");
    plan.backend = get_string(json, "backend");
    plan.gres = get_string(json, "gres");
    plan.options = strings_of(json, "options");
    plan.tasks = get_optional<int>(json, "tasks").value_or(0);
    if (get_optional<int>(json, "schema_version") != kSchemaVersion || plan.program.empty() ||
        plan.tasks < 1) {
        return fail(ErrorKind::usage, fmt::format("{} is no list of tasks that this version reads",
                                                  (folder / kPlan).string()));
    }
    return plan;
}

Result<void> write_task_record(const fs::path& folder, const TaskRecord& record) {
    const Json json = {{"schema_version", kSchemaVersion},
                       {"task", record.task},
                       {"state", record.ended ? "ended" : "running"},
                       {"job", record.job},
                       {"node", record.node},
                       {"devices", record.devices},
                       {"restarts", record.restarts},
                       {"exit", optional_json(record.exit)},
                       {"signal", optional_json(record.signal)},
                       {"problem", record.problem},
                       {"started", record.started},
                       {"ended", record.ended_at}};
    return write_file_atomically(task_record_file(folder, record.task), to_text(json));
}

std::optional<TaskRecord> read_task_record(const fs::path& folder, int task) {
    const auto json = read_json_file(task_record_file(folder, task));
    if (!json) return std::nullopt;
    TaskRecord record;
    record.task = task;
    record.ended = get_string(*json, "state") == "ended";
    record.job = get_string(*json, "job");
    record.node = get_string(*json, "node");
    record.devices = get_string(*json, "devices");
    record.restarts = get_optional<int>(*json, "restarts").value_or(0);
    record.exit = get_optional<int>(*json, "exit");
    record.signal = get_optional<int>(*json, "signal");
    record.problem = get_string(*json, "problem");
    record.started = get_string(*json, "started");
    record.ended_at = get_string(*json, "ended");
    return record;
}

Result<void> write_jobs(const fs::path& folder, const std::vector<Job>& jobs) {
    Json list = Json::array();
    for (const auto& job : jobs) {
        list.push_back({{"name", job.name}, {"id", job.id}, {"tasks", job.tasks}});
    }
    return write_file_atomically(folder / kJobs,
                                 to_text(Json{{"schema_version", kSchemaVersion}, {"jobs", list}}));
}

Result<std::vector<Job>> read_jobs(const fs::path& folder) {
    std::vector<Job> jobs;
    if (!fs::exists(folder / kJobs)) return jobs;
    OPGAUGE_TRY_ASSIGN(const Json json, read_json_file(folder / kJobs));
    if (!json.contains("jobs") || !json["jobs"].is_array()) {
        return fail(ErrorKind::usage, (folder / kJobs).string() + " is no list of jobs");
    }
    for (const auto& entry : json["jobs"]) {
        const auto tasks = get_optional<std::vector<int>>(entry, "tasks");
        if (tasks) jobs.push_back({get_string(entry, "name"), get_string(entry, "id"), *tasks});
    }
    return jobs;
}

std::vector<std::vector<std::string>> make_chunks(std::vector<ChunkWork> work,
                                                  const ChunkLimits& limits) {
    double total = 0;
    for (const auto& one : work) total += one.seconds;
    const double wanted = std::ceil(total / std::max(1.0, limits.seconds));
    const auto most = std::min<std::size_t>(work.size(), static_cast<std::size_t>(limits.most));
    const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(std::min(wanted, 1e6)), 1,
                                               std::max<std::size_t>(most, 1));
    std::stable_sort(work.begin(), work.end(),
                     [](const ChunkWork& a, const ChunkWork& b) { return a.seconds > b.seconds; });
    std::vector<std::vector<std::string>> chunks(count);
    std::vector<double> filled(count, 0);
    for (const auto& one : work) {
        // Of equally full ones that with the fewest entries: some expect no time at all.
        std::size_t best = 0;
        for (std::size_t i = 1; i < count; ++i) {
            const bool less = filled[i] < filled[best] ||
                              (filled[i] == filled[best] && chunks[i].size() < chunks[best].size());
            if (less) best = i;
        }
        chunks[best].push_back(one.name);
        filled[best] += one.seconds;
    }
    std::erase_if(chunks, [](const auto& chunk) { return chunk.empty(); });
    return chunks;
}

}  // namespace opgauge
