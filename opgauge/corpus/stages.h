// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace opgauge {

// Operator id -> newest stage ("stable", "beta", "alpha") from a corpus's operators.yaml. Empty
// where the file is absent or not of this form: a stage is a help for selecting, never a condition.
std::map<std::string, std::string> read_stages(const std::filesystem::path& file);

}  // namespace opgauge
