// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/clock.h"
#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"

#include <filesystem>

namespace opgauge {

// A task of a batch, run by a scheduler on its node: finds out which devices it was given, runs the
// batch of its chunk on them (goes on with it where it was begun before) and keeps its record.
// Returns the batch's exit code, or 128 + its signal.
Result<int> run_task(const std::filesystem::path& folder, const Environment& environment,
                     const Clock& clock);

}  // namespace opgauge
