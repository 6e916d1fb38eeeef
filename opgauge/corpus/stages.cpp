// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/stages.h"

#include <yaml-cpp/yaml.h>

#include <system_error>

namespace opgauge {
namespace {

// "stages: [{alpha: '5.4'}, {beta: '6.0'}]": the last one is where the operator is now.
std::string newest_stage(const YAML::Node& stages) {
    std::string stage;
    if (!stages.IsSequence()) return stage;
    for (const auto& entry : stages) {
        if (!entry.IsMap()) continue;
        for (const auto& pair : entry) stage = pair.first.as<std::string>("");
    }
    return stage;
}

}  // namespace

std::map<std::string, std::string> read_stages(const std::filesystem::path& file) {
    std::map<std::string, std::string> stages;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return stages;
    try {
        const YAML::Node root = YAML::LoadFile(file.string());
        const YAML::Node operators = root.IsMap() ? root["ops"] : YAML::Node();
        if (!operators.IsSequence()) return stages;
        for (const auto& entry : operators) {
            if (!entry.IsMap() || !entry["id"] || !entry["stages"]) continue;
            stages[entry["id"].as<std::string>("")] = newest_stage(entry["stages"]);
        }
    } catch (const YAML::Exception&) {
        stages.clear();
    }
    return stages;
}

}  // namespace opgauge
