// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/session/kept_run.h"

#include <filesystem>
#include <vector>

namespace opgauge {

// The tests that a run's children finished, as its events.jsonl tells; what a child said while it
// was being stopped does not count. No file: none.
Result<std::vector<TestOutcome>> read_finished_tests(const std::filesystem::path& events);

}  // namespace opgauge
