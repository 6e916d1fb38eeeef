// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/interpreter_cache.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/plan/cache.h"

#include <array>
#include <filesystem>
#include <system_error>

namespace opgauge {
namespace {

// What chooses the interpreter and the folders that it imports from.
constexpr std::array<const char*, 5> kVariables = {"PATH", "PYTHONPATH", "PYTHONHOME",
                                                   "VIRTUAL_ENV", "HOME"};

std::filesystem::path file_of(const std::string& python, const Environment& environment) {
    Json key = {python};
    for (const char* name : kVariables) key.push_back(environment.get(name).value_or(""));
    return cache_folder(environment) / "interpreters" / (short_digest(to_line(key)) + ".json");
}

// 0 for a folder that is not there: one that comes into being changes it.
long long time_of(const std::string& path) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    return error ? 0 : static_cast<long long>(time.time_since_epoch().count());
}

Json times_of(const InterpreterModules& found) {
    Json times = Json::array({time_of(found.executable)});
    for (const auto& folder : found.folders) times.push_back(time_of(folder));
    return times;
}

}  // namespace

std::optional<InterpreterModules> remembered_modules(const std::string& python,
                                                     const Environment& environment) {
    const auto text = read_file(file_of(python, environment));
    if (!text) return std::nullopt;
    const Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    InterpreterModules found;
    found.executable = get_string(json, "executable");
    found.folders = get_optional<std::vector<std::string>>(json, "folders").value_or(found.folders);
    const auto modules = get_optional<std::vector<std::string>>(json, "modules");
    if (!modules || json.value("times", Json()) != times_of(found)) return std::nullopt;
    found.modules.insert(modules->begin(), modules->end());
    return found;
}

void remember_modules(const std::string& python, const Environment& environment,
                      const InterpreterModules& found) {
    const auto file = file_of(python, environment);
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    static_cast<void>(write_file_atomically(file, to_text({{"executable", found.executable},
                                                           {"folders", found.folders},
                                                           {"modules", found.modules},
                                                           {"times", times_of(found)}})));
}

}  // namespace opgauge
